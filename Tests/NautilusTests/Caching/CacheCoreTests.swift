import Testing

@testable import Nautilus

@Suite("CacheCore")
struct CacheCoreTests {
    @Test("of several that answer a request the latest does, and of one second the one that came last (RFC 9111 §4)")
    func latest() throws {
        let partition = CachePartition(account: nil)
        let request = try HttpRequest.test(header: ["Accept": "text/plain", "Accept-Language": "de"])
        let target = try #require(CacheTarget(request))
        func found(_ times: [Int64]) -> String? {
            let selectors: [[String: String?]] = [["accept": "text/plain"], ["accept-language": "de"], [:]]
            var core = CacheCore(limit: 10_000, maxResponse: 10_000)
            for (index, time) in times.enumerated() {
                let stored = StoredResponse.test(
                    ["X-Number": "\(index)"],
                    receivedAt: time,
                    selectors: selectors[index]
                )
                _ = core.store(stored, from: core.begin(target, partition))
            }
            return core.find(target, partition, request)?.header["X-Number"]
        }
        #expect(found([0, 1, 2]) == "2")
        #expect(found([0, 2, 1]) == "1")
        #expect(found([0, 0, 0]) == "2")
        #expect(found([1, 1, 0]) == "1")
    }
}
