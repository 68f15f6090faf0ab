#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import Nautilus
    @testable import NautilusCurl
    @testable import NautilusHTTP
    @testable import NautilusURLSession

    @Suite("An authorized request that has its connection when its session is over", .endsInTime)
    struct EndedSessionTests {
        /// A port at which connections are taken and ended: what is written to them is lost.
        private final class LosingPort: Sendable {
            let number: UInt16
            private let descriptor: Int32

            init() throws {
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let descriptor = descriptor
                let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        bind(descriptor, pointer, size) == 0 && listen(descriptor, 8) == 0
                            && getsockname(descriptor, pointer, &size) == 0
                    }
                }
                number = UInt16(bigEndian: address.sin_port)
                try #require(isOpen)
                Thread.detachNewThread {
                    while case let connection = accept(descriptor, nil, nil), connection >= 0 { close(connection) }
                }
            }

            deinit {
                // Ends the thread's wait.
                shutdown(descriptor, Int32(SHUT_RDWR))
                close(descriptor)
            }
        }

        /// A request that carries a credential whose session is over.
        private static func ended(_ url: String) throws -> (HttpRequest, TransportContext) {
            var request = HttpRequest(url: try #require(URL(string: url)))
            let session = CallSession()
            request.authorize(as: CredentialTag(session: session, generation: 1)) { _ in }
            session.finish(.superseded)
            return (request, TransportContext())
        }

        private static func error(of work: () async throws -> Void) async -> RefreshError? {
            do {
                try await work()
                return nil
            } catch {
                return error as? RefreshError
            }
        }

        @Test(
            "a request whose session is over is written by neither transport",
            .enabled(if: CurlTransport.unavailability == nil)
        )
        func notWritten() async throws {
            let port = try LosingPort()
            let (request, context) = try Self.ended("http://127.0.0.1:\(port.number)/notes")
            for transport in [CurlTransport(), URLSessionTransport()] as [any HttpTransport] {
                let error = await Self.error { _ = try await transport.send(request, context: context) }
                #expect(error.isSuperseded, "\(type(of: transport))")
            }
            withExtendedLifetime(port) {}
        }

        @Test(
            "the opening of a web socket whose session is over is not written",
            .enabled(if: CurlTransport.unavailability == nil)
        )
        func notOpened() async throws {
            let port = try LosingPort()
            let (request, context) = try Self.ended("ws://127.0.0.1:\(port.number)/chat")
            let transport = CurlWebSocketTransport(over: CurlTransport())
            let error = await Self.error { _ = try await transport.open(request, context: context) }
            #expect(error.isSuperseded)
            withExtendedLifetime(port) {}
        }
    }

    extension RefreshError? {
        fileprivate var isSuperseded: Bool { if case .superseded = self { true } else { false } }
    }
#endif
