import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("CacheMemory")
struct CacheMemoryTests {
    @Test("the latest of several stored responses answers, within one second the last to come (RFC 9111 §4)")
    func latest() throws {
        let partition = CachePartition(account: nil)
        let request = try HttpRequest.test(header: ["Accept": "text/plain", "Accept-Language": "de"])
        let target = try #require(CacheTarget(request))
        func found(_ times: [Int64]) -> String? {
            let selectors: [[String: String?]] = [["accept": "text/plain"], ["accept-language": "de"], [:]]
            var memory = CacheMemory(limit: 10_000, maxResponse: 10_000)
            for (index, time) in times.enumerated() {
                let stored = StoredResponse.test(
                    ["X-Number": "\(index)"],
                    receivedAt: time,
                    selectors: selectors[index]
                )
                _ = memory.store(stored, from: memory.begin(target, partition))
            }
            return memory.find(target, partition, request)?.header["X-Number"]
        }
        #expect(found([0, 1, 2]) == "2")
        #expect(found([0, 2, 1]) == "1")
        #expect(found([0, 0, 0]) == "2")
        #expect(found([1, 1, 0]) == "1")
    }

    @Test("a response that is one byte larger than the limit is not stored")
    func tooLarge() throws {
        let target = try #require(CacheTarget(try HttpRequest.test()))
        let stored = StoredResponse.test([:])
        for (spare, isStored) in [(0, true), (-1, false)] {
            var memory = CacheMemory(limit: 10_000, maxResponse: stored.size + spare)
            #expect(memory.store(stored, from: memory.begin(target, CachePartition(account: nil))) == isStored)
            #expect(memory.count == (isStored ? 1 : 0))
        }
    }

    @Test("a 304 with a tag is not about a response without one, and the length of a decoded body proves nothing")
    func about() {
        let (tag, date): (HttpHeader, HttpHeader) = (["ETag": "\"1\""], ["Last-Modified": httpDate(-10)])
        let answers: [(stored: HttpHeader, answer: HttpHeader, isAbout: Bool)] = [
            (tag, tag, true), (tag, ["ETag": "\"2\""], false), (date, tag, false), (date, [:], true),
        ]
        for (stored, answer, isAbout) in answers {
            #expect(StoredResponse.test(stored).isValidated(by: .test(304, header: answer)) == isAbout)
        }
        for (length, encoding, isAbout) in [("4", nil, true), ("5", nil, false), ("5", "gzip", true)]
            as [(String, String?, Bool)]
        {
            var stored = HttpHeader()
            stored["Content-Encoding"] = encoding
            let answer = HttpResponse.test(header: ["Content-Length": .init(length)])
            #expect(StoredResponse.test(stored).isDescribed(by: answer) == isAbout)
        }
    }

    @Test("a response leads to what else has changed within its origin, and to nothing of another (RFC 9111 §4.4)")
    func related() throws {
        let url = try #require(URL(string: "https://api.example.com/things"))
        let target = try #require(CacheTarget(url))
        #expect(target.related("/things/7", to: url)?.path == "/things/7")
        #expect(target.related("https://api.example.com:443/a?b", to: url)?.path == "/a?b")
        for other in [
            "https://other.example.com/things/7", "http://api.example.com/a", "https://api.example.com:8443/",
        ] {
            #expect(target.related(other, to: url) == nil, "\(other)")
        }
    }
}
