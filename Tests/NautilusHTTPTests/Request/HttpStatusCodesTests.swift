import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpStatusCodes")
struct HttpStatusCodesTests {
    @Test("success is 200 to 299, and nothing else")
    func success() {
        #expect((0...1000).filter(HttpStatusCodes.success.contains) == Array(200...299))
    }

    @Test("codes, ranges and sets add up")
    func union() {
        let codes: HttpStatusCodes = [.success, 304, .init(400...401)]
        #expect((0...1000).filter(codes.contains) == Array(200...299) + [304, 400, 401])
        #expect(!([] as HttpStatusCodes).contains(200))
        #expect((404 as HttpStatusCodes).contains(404))
    }

    @Test("equal sets are equal, however they are written")
    func equality() {
        #expect([200, 201] as HttpStatusCodes == [201, 200])
        #expect([200, 201, 202] as HttpStatusCodes == .init(200...202))
        #expect([.success, 204] as HttpStatusCodes == .success)
        #expect([.init(200...250), .init(240...299)] as HttpStatusCodes == .success)
        #expect([200, 202] as HttpStatusCodes != .init(200...202))
        #expect([.init(0...Int.max), 5] as HttpStatusCodes == .init(0...Int.max))
    }
}
