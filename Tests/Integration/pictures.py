#!/usr/bin/env python3
"""Draws pictures of the guides; with `--check`, fails if one is not as drawn here.

Each picture is a list of shapes, placed in pixels. Its colours are light or dark as the reader's system is.
"""

import pathlib
import sys
from html import escape

GUIDES = pathlib.Path(__file__).resolve().parents[2] / "Guides"
STYLE = """\
.page{fill:#fcfcfb}.ink{fill:#1b1b1a}.dim{fill:#61605c}.title{fill:#1b1b1a;font-weight:600}
.box{fill:#fff;stroke:#c9c7c0}.call{fill:#e8f0fb;stroke:#2a78d6}.send{fill:#fdeee7;stroke:#d9541e}.server{fill:#eeece6;stroke:#8a8880}
.line{stroke:#61605c;fill:none;stroke-width:1.5}.retry{stroke:#d9541e;fill:none;stroke-width:1.5;stroke-dasharray:5 4}
.life{stroke:#c9c7c0;stroke-dasharray:2 4}.head{fill:#61605c}.hot{fill:#d9541e}
@media (prefers-color-scheme: dark){
.page{fill:#1a1a19}.ink,.title{fill:#f1f0ec}.dim{fill:#a9a79f}
.box{fill:#262624;stroke:#55534d}.call{fill:#1c2a3d;stroke:#4a94ea}.send{fill:#3a2318;stroke:#f0773f}.server{fill:#2f2e2b;stroke:#8a8880}
.line{stroke:#a9a79f}.retry{stroke:#f0773f}.life{stroke:#55534d}.head{fill:#a9a79f}.hot{fill:#f0773f}}
"""


class Picture:
    def __init__(self, name, width, height, label):
        self.name, self.width, self.height, self.label = name, width, height, label
        self.shapes = []

    def box(self, x, y, width, height, title="", text="", kind="box", top=False):
        """A box with a title, and lines of text below it; centred, or at the top for a box around others."""
        self.shapes.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        lines = [(title, "title")] * bool(title) + [(line, "dim") for line in text.split("\n") if line]
        if top:
            for number, (line, style) in enumerate(lines):
                self.text(x + 12, y + 20 + 17 * number, line, style, "start")
            return
        first = y + height / 2 - 8.5 * (len(lines) - 1) + 4
        for number, (line, style) in enumerate(lines):
            self.text(x + width / 2, first + 17 * number, line, style)

    def text(self, x, y, text, style="ink", anchor="middle"):
        self.shapes.append(f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>')

    def arrow(self, *points, kind="line", text="", style="dim", above=5, at=None, anchor="middle"):
        """A line through points with a head at its end; the text stands above its middle, or at a point."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        head = "hot" if kind == "retry" else "head"
        self.shapes.append(f'<polyline class="{kind}" points="{path}" marker-end="url(#{head})"/>')
        if text:
            (x1, y1), (x2, y2) = points[0], points[-1]
            x, y = at or ((x1 + x2) / 2, (y1 + y2) / 2 - above)
            self.text(x, y, text, style, anchor)

    def life(self, x, top, bottom):
        self.shapes.append(f'<line class="life" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>')

    def svg(self):
        heads = "".join(
            f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path class="{kind}" d="M0 0 8 4 0 8z"/></marker>'
            for kind in ["head", "hot"]
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="system-ui, -apple-system, sans-serif" font-size="13" role="img" '
            f'aria-label="{escape(self.label)}">\n<style>\n{STYLE}</style>\n<defs>{heads}</defs>\n'
            f'<rect class="page" width="{self.width}" height="{self.height}" rx="8"/>\n' + "\n".join(self.shapes) + "\n</svg>\n"
        )


def path_of_a_call():
    picture = Picture("PathOfACall", 880, 470, "The path of a call, from its binding to its result, with its retries")
    steps = [("bind", "service, session"), ("hook", "may answer"), ("build", "URL, header, body"), ("call tier", "cache, sharing")]
    for number, (title, text) in enumerate(steps):
        x = 24 + 212 * number
        picture.box(x, 24, 180, 56, title, text, "call" if title == "call tier" else "box")
        if number:
            picture.arrow((x - 32, 52), (x - 2, 52))
    picture.box(24, 136, 832, 178, "an attempt", "", "box", top=True)
    inner = [
        ("ready", "waits for a\nfresh credential", "box"),
        ("network tier", "limit, pacing,\nbreaker, hedging", "send"),
        ("authorize", "puts it on\nthe request", "box"),
        ("send", "over the network,\nwith redirects", "server"),
        ("read", "status, then\ndecoding", "box"),
    ]
    for number, (title, text, kind) in enumerate(inner):
        x = 44 + 162 * number
        picture.box(x, 178, 144, 76, title, text, kind)
        if number:
            picture.arrow((x - 18, 216), (x - 2, 216))
    picture.arrow((750, 80), (750, 108), (160, 108), (160, 176))
    picture.arrow((440, 254), (440, 290), (116, 290), (116, 256), text="gone meanwhile: wait outside, queue again", at=(278, 285))
    picture.arrow((764, 254), (764, 364), (638, 364), text="failed", at=(772, 344), anchor="start")
    picture.box(436, 336, 200, 56, "retrier", "reasons to stop, budget", "box")
    picture.box(224, 336, 180, 56, "delay, then gate", "on the service's clock", "box")
    picture.arrow((436, 364), (406, 364), kind="retry")
    picture.arrow((224, 364), (12, 364), (12, 98), (538, 98), (538, 82), kind="retry", text="retry: build anew", style="hot", at=(24, 358), anchor="start")
    picture.arrow((836, 254), (836, 430), (540, 430), text="answered", at=(828, 424), anchor="end")
    picture.box(378, 410, 160, 40, "result, with trace", "", "box")
    picture.arrow((536, 392), (536, 408), text="gives up", at=(544, 404), anchor="start")
    return picture


def two_tiers():
    picture = Picture("TwoTiers", 880, 400, "Two tiers of interceptors: around a call, and around each of its sends")
    picture.box(24, 24, 832, 352, "CallInterceptor: around the whole call, once", "before it needs a credential, whatever the number of attempts", "call", top=True)
    for number, (title, text) in enumerate([("changing", "RequestId, IdempotencyKeys"), ("storing", "HttpCache"), ("sharing", "RequestCoalescing")]):
        x = 48 + 268 * number
        picture.box(x, 80, 240, 50, title, text)
        if number:
            picture.arrow((x - 28, 105), (x - 2, 105))
    picture.arrow((704, 130), (704, 150), (150, 150), (150, 170))
    picture.box(48, 172, 784, 180, "NetworkInterceptor: around each send", "attempts, second sends of a hedge, subrequests", "send", top=True)
    stages = [
        ("hedging", "Hedging"),
        ("waiting", "ConcurrencyLimit,\nPacing"),
        ("refusing", "CircuitBreaker"),
        ("changing", "compression,\nencryption"),
    ]
    for number, (title, text) in enumerate(stages):
        x = 68 + 192 * number
        picture.box(x, 224, 166, 56, title, text)
        if number:
            picture.arrow((x - 26, 252), (x - 2, 252))
    picture.arrow((727, 280), (727, 292), (152, 292), (152, 300))
    for number, (title, kind) in enumerate([("authorize", "call"), ("signing", "box"), ("network: Chaos", "box"), ("transport", "server")]):
        x = 68 + 192 * number
        picture.box(x, 302, 166, 34, title, "", kind)
        if number:
            picture.arrow((x - 26, 319), (x - 2, 319))
    return picture


def one_refresh():
    picture = Picture("OneRefresh", 880, 420, "A hundred calls whose token has expired wait for one refresh")
    lanes = [(100, "call 1"), (280, "calls 2 … 100"), (480, "coordinator"), (760, "server")]
    for x, title in lanes:
        picture.box(x - 80, 20, 160, 34, title, "", "server" if title == "server" else "call" if title == "coordinator" else "box")
        picture.life(x, 54, 400)
    picture.arrow((100, 84), (758, 84), text="GET, token 1", at=(620, 79))
    picture.arrow((280, 106), (758, 106), text="GET, token 1, 99 times", at=(620, 101))
    picture.arrow((760, 132), (102, 132), kind="retry", text="401", at=(620, 127), style="hot")
    picture.arrow((100, 156), (478, 156), text="rejected: token 1", at=(360, 151))
    picture.arrow((480, 180), (758, 180), text="refresh, once", style="ink")
    picture.arrow((760, 206), (282, 206), kind="retry", text="401, 99 times, however late", at=(620, 201), style="hot")
    picture.arrow((280, 230), (478, 230), text="rejected: token 1", at=(370, 225))
    picture.box(410, 240, 140, 30, "all wait for it", "", "call")
    picture.arrow((760, 292), (482, 292), text="token 2")
    picture.arrow((480, 316), (102, 316), text="token 2, to each that waits", at=(360, 311))
    picture.arrow((100, 344), (758, 344), text="GET, token 2", at=(620, 339))
    picture.arrow((280, 366), (758, 366), text="GET, token 2, 99 times, paced", at=(620, 361))
    picture.arrow((760, 390), (102, 390), text="200", at=(620, 385))
    return picture


def several_processes():
    picture = Picture("OneSession", 880, 420, "Two processes share one session: one refreshes, the other finds the new token in the store")
    lanes = [(110, "process A"), (330, "store, with a lock"), (550, "process B"), (770, "server")]
    for x, title in lanes:
        kind = {"server": "server", "store, with a lock": "call"}.get(title, "box")
        picture.box(x - 85, 20, 170, 34, title, "", kind)
        picture.life(x, 54, 400)
    picture.arrow((110, 88), (328, 88), text="lock, read: token 1")
    picture.arrow((550, 112), (332, 112), text="lock: waits")
    picture.arrow((110, 140), (328, 140), text="note: is being sent")
    picture.arrow((110, 172), (768, 172), text="refresh with token 1", at=(660, 167))
    picture.arrow((770, 204), (112, 204), text="token 2", at=(660, 199))
    picture.arrow((110, 236), (328, 236), text="save token 2, unlock")
    picture.arrow((330, 268), (548, 268), text="locked, read: token 2")
    picture.box(470, 284, 160, 30, "no refresh needed", "", "call")
    picture.arrow((550, 340), (332, 340), text="unlock")
    picture.arrow((110, 372), (768, 372), text="calls with token 2", at=(660, 367))
    picture.arrow((550, 394), (768, 394), text="calls with token 2", at=(660, 389))
    return picture


def main():
    stale = []
    for picture in [path_of_a_call(), two_tiers(), one_refresh(), several_processes()]:
        file, drawing = GUIDES / f"{picture.name}.svg", picture.svg()
        if "--check" not in sys.argv:
            file.write_text(drawing)
        elif not file.exists() or file.read_text() != drawing:
            stale.append(file.name)
    if stale:
        sys.exit(f"error: run Tests/Integration/pictures.py, for {', '.join(stale)}")


main()
