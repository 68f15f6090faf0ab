import Foundation

/// An exchange as its transport sees it: whose it is, and where the transport reports how far it has got.
///
/// A transport that reports nothing works, too. Then timeouts count from the beginning, and a request whose exchange is
/// ended counts as maybe executed.
public struct TransportContext: Sendable {
    /// The call; ``CallIdentity/none`` in a context that a test has made.
    public let call: CallIdentity
    /// The attempt's number, from 1.
    public let number: Int
    /// How long the exchange may take; nil for no limit. The caller ends it by itself, so most transports need not know.
    public let timeout: Duration?
    /// The time left until the call's deadline when the attempt began; nil when there is no deadline.
    public let remaining: Duration?
    /// The service's way to write and read JSON.
    package var coders: JsonCoders { carriedCoders?.coders ?? .standard }
    /// Ends the exchange when its time is over; nil when its task is cancelled instead, as for every transport that is
    /// not an `InterruptibleTransport`.
    package let interruption: Interruption?
    /// The service's coders; nil for the standard ones.
    private let carriedCoders: JsonCoders.Carried?
    /// The transport's report on the exchange; nil in a context that a test has made.
    private let progress: ExchangeProgress?

    /// Creates a context, as a test of a transport does. What is reported to it is dropped.
    ///
    /// - Parameters:
    ///   - number: The attempt's number. Default: 1, the first.
    ///   - timeout: How long the exchange may take. Default: nil, no limit, so that a test needs no clock.
    ///   - remaining: The time left until the deadline. Default: nil, there is none.
    public init(number: Int = 1, timeout: Duration? = nil, remaining: Duration? = nil) {
        self.init(number: number, timeout: timeout, remaining: remaining, interruption: nil)
    }

    package init(
        call: CallIdentity = .none,
        number: Int = 1,
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        coders: JsonCoders.Carried? = nil,
        progress: ExchangeProgress? = nil,
        interruption: Interruption?
    ) {
        (self.call, self.number, self.timeout, self.remaining) = (call, number, timeout, remaining)
        (carriedCoders, self.progress, self.interruption) = (coders, progress, interruption)
    }
}

extension TransportContext: Redacted {
    /// The call and the attempt, `GetNote (call 17), attempt 2`.
    public var description: String { "\(call), attempt \(number)" }
}

extension TransportContext {
    /// Notes that the exchange waits for a connection: from here on its timeout does not count.
    ///
    /// For a transport with a limited number of connections. Without this, requests would time out before they are
    /// sent, as soon as there are more requests than connections. The call's deadline still counts.
    public func beginWaitingForConnection() {
        progress?.beginWaiting()
    }

    /// Notes that the exchange has its connection: from here on its timeout counts.
    public func endWaitingForConnection() {
        progress?.endWaiting()
    }

    /// Notes that nothing of the request is written before the transport calls ``noteSending()``. A cancellation or a
    /// timeout before that is ``Delivery/notSent``, so that even a request that must not run twice can be tried again.
    ///
    /// For a transport that knows when it writes. Without this, any exchange that ends may have been sent.
    public func beginConnecting() {
        progress?.beginConnecting()
    }

    /// Notes that the request is about to be written; to be called before the check that the exchange has not ended.
    public func noteSending() {
        progress?.noteSending()
    }

    /// Notes that a part of the body has been written: the timeout counts from here. For a transport that writes bytes
    /// in memory part by part; parts of a stream are noted automatically.
    public func noteBodyPart() {
        progress?.notePart()
    }

    /// Notes how the exchange has got its connection, for its record; if called several times, the last one counts.
    public func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        progress?.noteConnection(connection)
    }

    /// Notes that the header of the answer has arrived, so that the server's latency does not include the length of the
    /// body.
    ///
    /// For a transport that reads the body before it returns. Without this, the time of the whole answer counts.
    public func noteResponseHeader() {
        progress?.noteHeader()
    }

    /// Notes the answer as far as it could be read, so that its status outlives a failure of its body.
    ///
    /// A transport calls this before it throws because of a body, and may call it when a status from 300 on arrives, since
    /// the timeout may end the wait for it. An unaccepted status is then the answer; any other is part of the error.
    public func noteAnswer(_ response: HttpResponse<Data>) {
        progress?.noteAnswer(response)
    }
}
