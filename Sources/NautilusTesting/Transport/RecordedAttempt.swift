import Foundation
import Nautilus

/// A ``ScriptedTransport``'s record of one attempt.
public struct RecordedAttempt: Sendable {
    /// How an attempt ended.
    public enum Outcome: Sendable {
        /// The attempt has not ended.
        case inFlight
        /// The attempt got a response of this status.
        case replied(status: Int)
        /// The attempt failed with an error.
        case failed(any Error)
        /// The attempt's task was cancelled.
        case cancelled
    }

    /// The request as it came, including secrets. A one-shot body in it has been read; ``body`` has its bytes.
    public let request: HttpRequest
    /// The context as it came.
    public let context: TransportContext
    /// The bytes of the body; nil when there is none, or the attempt ended before the body was read.
    public internal(set) var body: Data?
    /// When the attempt began, on the transport's clock, counted from the creation of the transport.
    public let start: Duration
    /// When the attempt ended; nil while it is in flight.
    public internal(set) var end: Duration?
    /// How the attempt ended.
    public internal(set) var outcome: Outcome

    /// The header of the request.
    public var header: HttpHeader { request.header }
}

extension RecordedAttempt: Redacted {
    /// Request, start and outcome, fit for a log: no query, no header, no body.
    public var description: String {
        "attempt \(context.number): \(request) at \(start.brief): \(outcome)"
    }

    /// Shows the description and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["attempt": description, "header": header.description])
    }
}

extension RecordedAttempt.Outcome: Redacted {
    /// The outcome in a few words; for an error, only its type, unless the error is known to hold no secret.
    public var description: String {
        switch self {
        case .inFlight: "in flight"
        case .replied(let status): "\(status)"
        case .failed(let error as TransportError): "failed, \(error)"
        case .failed(let error as ScriptedTransport.Exhausted): "failed, \(error)"
        case .failed(let error): "failed, \(type(of: error))"
        case .cancelled: "cancelled"
        }
    }
}
