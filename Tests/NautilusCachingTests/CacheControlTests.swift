import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Cache-Control")
struct CacheControlTests {
    @Test(
        "a number is read where it is one, in quotes too; what is none keeps an answer for the shortest time",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age = 60", 60),
            ("max-age=\"6\\0\"", 60), (",, max-age=60 ,", 60), ("private, max-age=60, public", 60),
            ("max-age=60, max-age=10", 10), ("max-age=10, max-age=60", 10), ("max-age=60, max-age=x", 0),
            ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=60s", 0),
            ("max-age=60 0", 0), ("max-age=60;x=1", 0), ("max-age=+60", 0), ("max-age=\"", 0), ("max-age=\"60", 60),
            ("max-age=2147483648", 2_147_483_648), ("max-age=99999999999999999999999", 2_147_483_648),
            ("s-maxage=60", nil), ("x=\"max-age=60\"", nil), ("xmax-age=60", nil), ("", nil),
        ] as [(String, Int64?)]
    )
    func maxAge(field: String, seconds: Int64?) {
        #expect(CacheControl(["Cache-Control": field]).maxAge == seconds)
    }

    @Test("each directive is read, in any case and order, from several fields")
    func directives() {
        var header: HttpHeader = ["Cache-Control": "No-Cache=\"Set-Cookie\", NO-STORE, must-revalidate"]
        header.add("must-understand, public, only-if-cached, min-fresh=3, max-stale=4", to: "cache-control")
        header.add("stale-while-revalidate=5, stale-if-error=6", to: "Cache-Control")
        let control = CacheControl(header)
        #expect(control.noCache && control.noStore && control.mustRevalidate && control.mustUnderstand)
        #expect(control.isStorable && control.onlyIfCached)
        #expect((control.minFresh, control.maxStale) == (3, 4))
        #expect((control.staleWhileRevalidate, control.staleIfError) == (5, 6))
    }

    @Test("max-stale without a value means any staleness, and with one that is no number none")
    func maxStale() {
        #expect(CacheControl(["Cache-Control": "max-stale"]).maxStale == CacheControl.longest)
        #expect(CacheControl(["Cache-Control": "max-stale=soon"]).maxStale == 0)
        #expect(CacheControl(["Cache-Control": "min-fresh=soon"]).minFresh == CacheControl.longest)
    }

    @Test("Pragma counts where there is no Cache-Control (RFC 9111 §5.4)")
    func pragma() {
        #expect(CacheControl(["Pragma": "No-Cache"]).noCache)
        #expect(!CacheControl(["Pragma": "no-cache", "Cache-Control": "max-age=1"]).noCache)
    }

    @Test("random fields: it ends, numbers are in range, and a clean field behind a comma is read")
    func fuzz() {
        var generator = SeededGenerator(seed: 9_111)
        let words = [
            "max-age", "max-stale", "min-fresh", "no-store", "no-cache", "stale-if-error", "private", "=", "=", ",",
            ",",
            " ", "\t", "\"", "\\", "60", "999999999999999999999", "-", ";", "é", "\u{0}", "\u{7f}", "🐚", "x",
        ]
        for _ in 0..<trials(20_000) {
            let count = Int.random(in: 0...12, using: &generator)
            let field = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined()
            let control = CacheControl(["Cache-Control": field])
            for number in [control.maxAge, control.maxStale, control.minFresh, control.staleIfError] {
                #expect(number.map { (0...CacheControl.longest).contains($0) } ?? true, "\(field)")
            }
            // A quoted text that is not closed ends with the field, so a field of its own is always read.
            var header: HttpHeader = ["Cache-Control": field]
            header.add("must-revalidate", to: "Cache-Control")
            #expect(CacheControl(header).mustRevalidate, "\(field)")
        }
    }
}
