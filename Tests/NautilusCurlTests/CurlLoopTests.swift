#if os(Linux)
    import Foundation
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP

    @Suite("A loop of libcurl that its last user has left", .enabled(if: CurlTransport.unavailability == nil))
    struct CurlLoopTests {
        private let own = CurlTransport()

        /// A loop without a reference.
        private static func left() throws -> CurlLoop {
            let reference = try CurlTransport().runningLoop()
            return reference.loop
        }

        private func transfer() throws -> CurlTransfer {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            return CurlTransfer(
                CurlExchange(try own.runningLoop(), download: nil, upload: nil),
                of: try CurlRequest(HttpRequest(url: url)),
                context: TransportContext(),
                configuration: own.configuration
            )
        }

        @Test("a loop that its last user has left refuses transfers, for as long as somebody holds it")
        func left() async throws {
            let (loop, transfer) = (try Self.left(), try transfer())
            loop.resume(transfer)
            loop.end(transfer)
            let error = await #expect(throws: TransportError.self) {
                _ = try await withUnsafeThrowingContinuation { (caller: CurlExchange.Continuation) in
                    if transfer.exchange.awaitAnswer(caller) { loop.start(transfer) }
                }
            }
            #expect(error == .unusable)
        }
    }
#endif
