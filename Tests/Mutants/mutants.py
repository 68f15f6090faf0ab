#!/usr/bin/env python3
"""Plants faults in a copy of the sources, and tells which of them the tests notice.

    Tests/Mutants/mutants.py                      all of them, in about ten minutes on two cores
    Tests/Mutants/mutants.py --folder Caching     those of one folder
    Tests/Mutants/mutants.py --only 17 18         those with these numbers
    Tests/Mutants/mutants.py --list               what there is, with its numbers
    Tests/Mutants/mutants.py --check              whether every fault still finds its place and its test; builds nothing

The lists are the `.mutants` files beside this one. An entry is a file and the fault in words, the original text, the text
that takes its place, and the tests that have to notice:

    RetryAfter.swift: seconds are taken for milliseconds
    - .seconds(value)
    + (MUTANT ? .milliseconds(value) : .seconds(value))
    by RetryAfterTests/seconds

- The original has to occur once in the file, or else once in all sources: files may move. Blanks and line breaks between
  its words do not matter.
- The text in its place keeps both: with `MUTANT` false it does what the original does. So one build serves all mutants,
  and the environment turns on one at a time.
- After `by` come suites, or suite/function, with commas between them. Only these run, so a mutant costs a second.

Everything is built in `.build-mutants`, beside `.build`; the checkout is only read. A mutant is caught when a test fails
or traps. One that ends no test within the limit is not: a test has to fail by itself, not by somebody's patience.
Fails when less than 95 % of any folder's mutants are caught.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / ".build-mutants"
LISTS = pathlib.Path(__file__).resolve().parent
# A simulation that goes on for ever costs a core: none of the tests named here takes more than ten seconds.
SECONDS_PER_MUTANT = 60
LEAST_CAUGHT = 0.95
DECLARATION = re.compile(
    r"^(?!.*\b(?:file)?private\b) *(?:\w+ )*?(?:struct|class|enum|actor|protocol|typealias|func|let|var) (\w+)"
)
SWITCH = """import Foundation

@usableFromInline let activeMutant =
    ProcessInfo.processInfo.environment["NAUTILUS_MUTANT"].flatMap { Int($0) } ?? 0
"""


# --- The lists ---


class Mutant:
    """An entry of a list."""

    def __init__(self, block, place):
        self.place = place
        self.number = 0
        self.file, _, self.fault = block[0].partition(": ")
        self.original = [line[1:] for line in block if line.startswith("-")]
        self.changed = [line[1:] for line in block if line.startswith("+")]
        self.tests = [test for line in block if line.startswith("by ") for test in re.split(r",\s*", line[3:].strip())]
        if not (self.fault and self.original and self.tests and "MUTANT" in "".join(self.changed)):
            sys.exit(f"{place}: an entry has a file and a fault, -, + with MUTANT, and by")
        # Set by `locate`.
        self.path = self.span = None

    @property
    def folder(self):
        """Where the rate counts it: product and folder."""
        parts = self.path.relative_to(ROOT / "Sources").parts
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]

    @property
    def replacement(self):
        return "\n".join(self.changed).strip().replace("MUTANT", f"(activeMutant == {self.number})")

    def locate(self, sources):
        """Finds the original's place; the complaint if it has none, or several."""
        words = [re.escape(word) for line in self.original for word in line.split()]
        pattern = re.compile(r"\s+".join(words))
        named = {path: text for path, text in sources.items() if path.name == self.file}
        found = places(pattern, named) or places(pattern, sources)
        if len(found) != 1:
            return f"{len(found)} places have the original of “{self.fault}”"
        self.path, self.span = found[0]
        return None


def places(pattern, sources):
    return [(path, match.span()) for path, text in sources.items() for match in pattern.finditer(text)]


def read_lists():
    mutants = []
    for path in sorted(LISTS.glob("*.mutants")):
        block = []
        for number, line in enumerate(path.read_text().splitlines() + [""], 1):
            if line.startswith("#"):
                continue
            if line.strip():
                block.append(line)
            elif block:
                mutants.append(Mutant(block, f"{path.name}:{number - len(block)}"))
                block = []
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    return mutants


def complaints(mutants, sources, tests):
    """Everything that keeps the lists from being carried out."""
    found = []
    for mutant in mutants:
        complaint = mutant.locate(sources)
        if complaint:
            found.append(f"{mutant.place}: {complaint}")
        for test in mutant.tests:
            if not files_of(test, tests):
                found.append(f"{mutant.place}: there is no test {test}")
    located = sorted((m for m in mutants if m.path), key=lambda m: (m.path, m.span))
    for first, second in zip(located, located[1:]):
        if first.path == second.path and second.span[0] < first.span[1]:
            found.append(f"{second.place}: “{second.fault}” is in the place of “{first.fault}”, {first.place}")
    return found


# --- The copy ---


def files_of(test, tests):
    """The files of the tests that have the suite, and the function if one is named."""
    suite, _, function = test.partition("/")
    return [
        path
        for path, text in tests.items()
        if suite in named("struct|class|enum|actor|extension", text)
        and (not function or function in named("func", text))
    ]


@functools.cache
def named(keyword, text):
    return set(re.findall(rf"\b(?:{keyword}) (\w+)", text))


def declared(text):
    """What other files can name of a test's file: what is on its top, and what the extensions of a helper add."""
    names, is_extension = set(), False
    for line in text.splitlines():
        is_top = bool(line[:1].strip())
        if is_top:
            is_extension = line.startswith("extension ") and "@Test" not in text
        if is_extension or is_top:
            names.update(DECLARATION.findall(line))
    return names


def needed_tests(mutants, tests):
    """The files that the mutants' tests are in, and those whose declarations they name, and so on."""
    declarations = {path: declared(text) for path, text in tests.items()}
    words = {path: set(re.findall(r"\w+", re.sub("//.*", "", text))) for path, text in tests.items()}
    needed, new = set(), {path for mutant in mutants for test in mutant.tests for path in files_of(test, tests)}
    while new:
        needed |= new
        new = {
            other
            for other in tests
            if other not in needed
            # Targets share nothing.
            and any(declarations[other] & words[path] and target(other) == target(path) for path in new)
        }
    return {path: text for path, text in tests.items() if path in needed}


def target(path):
    return path.relative_to(ROOT / "Tests").parts[0]


def planted(mutants, sources):
    """The sources with all mutants in them, behind the switch."""
    texts = dict(sources)
    for mutant in sorted(mutants, key=lambda m: m.span, reverse=True):
        text, (start, end) = texts[mutant.path], mutant.span
        texts[mutant.path] = text[:start] + mutant.replacement + text[end:]
    for module in {mutant.path.relative_to(ROOT / "Sources").parts[0] for mutant in mutants}:
        texts[ROOT / "Sources" / module / "ActiveMutant.swift"] = SWITCH
    return texts


def write_copy(texts):
    """Makes the copy's files these; what is the same stays untouched, so that it need not be built again."""
    wanted = {COPY / path.relative_to(ROOT): text for path, text in texts.items()}
    for folder in ("Sources", "Tests"):
        for path in (COPY / folder).rglob("*.swift"):
            if path not in wanted:
                path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def build():
    command = ["swift", "build", "--build-tests", "--package-path", str(COPY)]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode:
        # Each once, with the line of the source, in which a mutant has its number.
        lines = built.stdout.splitlines()
        errors = {line: lines[index + 1 : index + 5] for index, line in enumerate(lines) if ": error: " in line}
        for error, source in errors.items():
            print("\n".join([error, *source]))
        if not errors:
            print(built.stdout)
        sys.exit("error: the mutants do not build")
    shown = subprocess.run(command + ["--show-bin-path"], capture_output=True, text=True, check=True)
    return next(pathlib.Path(shown.stdout.strip()).glob("*.xctest"))


# --- The runs ---


def run_tests(bundle, tests, number, limit):
    """Runs the tests with one mutant on; 0 for none. The exit code and the output; no code when the time is over."""
    # Fuzzers take seconds, and are not what notices a certain fault.
    command = [str(bundle), "--testing-library", "swift-testing", "--skip", "[Ff]uzz"]
    for test in tests:
        suite, _, function = test.partition("/")
        command += ["--filter", f"[./]{suite}/" + (rf"(.*/)?{function}\(" if function else "")]
    # A trap is noticed by itself; to tell where it was takes a program more, which may outlast the tests.
    environment = {**os.environ, "NAUTILUS_MUTANT": str(number), "NO_COLOR": "1", "SWIFT_BACKTRACE": "enable=no"}
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=COPY,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        # With what it has started, which would keep the pipe open.
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


def outcome(mutant, bundle):
    code, output = run_tests(bundle, mutant.tests, mutant.number, SECONDS_PER_MUTANT)
    if code is None:
        return False, "no test ended within the limit"
    if "Test run with 0 tests" in output:
        sys.exit(f"error: {mutant.place}: no test is called {' or '.join(mutant.tests)}")
    failed = re.search(r"✘ Test (.+?) (?:with \d+ test cases )?(?:recorded|failed)", output)
    if failed:
        return True, failed[1]
    if code:
        return True, "a trap"
    return False, "no test has noticed"


def run(mutants, bundle, jobs):
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    code, output = run_tests(bundle, tests, 0, 600)
    if code != 0:
        print(output)
        sys.exit("error: the tests fail without a mutant")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        rates, survivors = {}, []
        for mutant, (is_caught, how) in zip(mutants, pool.map(lambda m: outcome(m, bundle), mutants)):
            caught, count = rates.get(mutant.folder, (0, 0))
            rates[mutant.folder] = (caught + is_caught, count + 1)
            print(f"{mutant.number:4} {'caught  ' if is_caught else 'SURVIVED'} {mutant.fault}: {how}", flush=True)
            if not is_caught:
                survivors.append(mutant)
    return rates, survivors


def report(rates, survivors):
    print(f"\n{'folder':32} mutants  caught")
    caught, count = (sum(column) for column in zip(*rates.values()))
    for folder, (folder_caught, folder_count) in [*sorted(rates.items()), ("all", (caught, count))]:
        print(f"{folder:32} {folder_count:7}  {folder_caught / folder_count:6.1%}")
    for mutant in survivors:
        print(f"survived: {mutant.number} {mutant.file}: {mutant.fault} ({mutant.place})")
    if any(caught / count < LEAST_CAUGHT for caught, count in rates.values()):
        sys.exit(f"error: less than {LEAST_CAUGHT:.0%} of a folder's mutants are caught")


# --- The command ---


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="mutants.py [options]"
    )
    parser.add_argument("--folder", help="only mutants of this folder, e.g. Caching or NautilusOAuth/Store")
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="only mutants with these numbers")
    parser.add_argument("--list", action="store_true", help="name the mutants, and plant none")
    parser.add_argument("--check", action="store_true", help="look whether each finds its place, and plant none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    arguments = parser.parse_args()

    # Without the guides and the tutorial, to which a catalogue links.
    files = [path for path in sorted((ROOT / "Sources").rglob("*")) if path.is_file() and not path.is_symlink()]
    sources = {path: path.read_text() for path in files if path.suffix == ".swift"}
    targets = [path for path in (ROOT / "Tests").glob("*Tests") if path.is_dir()]
    tests = {path: path.read_text() for target in sorted(targets) for path in sorted(target.rglob("*.swift"))}
    mutants = read_lists()
    found = complaints(mutants, sources, tests)
    for complaint in found:
        print(complaint)
    if found:
        sys.exit("error: the lists do not fit the sources")

    chosen = [
        mutant
        for mutant in mutants
        if (not arguments.folder or f"/{mutant.folder}/".endswith(f"/{arguments.folder}/"))
        and (not arguments.only or mutant.number in arguments.only)
    ]
    if arguments.list or arguments.check:
        for mutant in chosen if arguments.list else []:
            print(f"{mutant.number:4} {mutant.folder}/{mutant.path.name}: {mutant.fault} (by {', '.join(mutant.tests)})")
        print(f"{len(chosen)} mutants")
        return
    if not chosen:
        sys.exit("error: there is no such mutant")

    manifest = ROOT / "Package.swift"
    others = [path for path in files if path.suffix != ".swift"]
    others += sorted((ROOT / "Tests/TestSupport").rglob("*.swift"))
    # All of them, so that another choice needs no other build.
    texts = planted(mutants, sources) | needed_tests(chosen, tests)
    texts |= {path: path.read_text() for path in [manifest, *others]}
    for target in targets:
        # A target must not be empty.
        texts[target / "Empty.swift"] = ""
    write_copy(texts)
    report(*run(chosen, build(), arguments.jobs))


main()
