import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// What all secure sockets of a transport share: made once, since reading the trust roots takes a while.
final class SecureContext: Sendable {
    private let adjust: (@Sendable (inout TLSConfiguration) -> Void)?
    /// Nil before the first secure socket, and after a failure, which may pass.
    private let made = NIOLockedValueBox<EventLoopFuture<NIOSSLContext>?>(nil)

    init(adjust: (@Sendable (inout TLSConfiguration) -> Void)?) {
        self.adjust = adjust
    }

    func context(on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        if let made = made.withLockedValue({ $0 }) { return made.hop(to: loop) }
        // Not under the lock, since adjusting it is anybody's code; of two that are made at once, the first counts.
        let new = make(on: loop)
        let (context, isNew) = made.withLockedValue { made in
            if let made { return (made, false) }
            made = new
            return (new, true)
        }
        if isNew { context.whenFailure { _ in self.made.withLockedValue { $0 = nil } } }
        return context.hop(to: loop)
    }

    private func make(on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        var configuration = TLSConfiguration.makeClientConfiguration()
        adjust?(&configuration)
        // The upgrade is one of HTTP/1.1 (RFC 6455 §4.1).
        configuration.applicationProtocols = ["http/1.1"]
        // It reads files, which an event loop must not wait for.
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [configuration] in
            try NIOSSLContext(configuration: configuration)
        }
    }
}
