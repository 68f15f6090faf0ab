import Foundation
import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One kind of trouble that ``Chaos`` makes, and how often.
///
/// A rate is a part of all requests, from 0 to 1: less counts as 0, more as 1, and NaN as 0, so that no arithmetic on the
/// way from a settings screen can stop an app.
public struct ChaosFault: Sendable {
    enum Kind: Hashable, Sendable {
        case delay(ClosedRange<Duration>)
        case failure(URLError.Code)
        case answer(status: Int, HttpHeader)
        case droppedAnswer
    }

    let kind: Kind
    let rate: Double

    private init(_ kind: Kind, rate: Double) {
        self.kind = kind
        self.rate = rate.isNaN ? 0 : min(max(rate, 0), 1)
    }

    /// A request goes later: a slow network.
    ///
    /// - Parameters:
    ///   - delay: How much later, drawn evenly; negative times count as zero.
    ///   - rate: How often.
    public static func delay(_ delay: ClosedRange<Duration>, rate: Double) -> ChaosFault {
        ChaosFault(.delay(delay.lowerBound.addable...delay.upperBound.addable), rate: rate)
    }

    /// A request is not sent, and fails as the network would.
    ///
    /// The error says of the delivery what a transport's would with this code, since no client can know better: after a
    /// lost connection, the server may have acted.
    ///
    /// - Parameters:
    ///   - code: How it fails. Default: no connection to the host, the most common failure and the most harmless.
    ///   - rate: How often.
    public static func failure(_ code: URLError.Code = .cannotConnectToHost, rate: Double) -> ChaosFault {
        ChaosFault(.failure(code), rate: rate)
    }

    /// A request is not sent, and is answered with a status: an overloaded gateway, a rate limit.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - header: The answer's header, `Retry-After` say. Default: none.
    ///   - rate: How often.
    public static func answer(status: Int, header: HttpHeader = [:], rate: Double) -> ChaosFault {
        ChaosFault(.answer(status: status, header), rate: rate)
    }

    /// A request is sent, the server acts on it, and its answer is thrown away: the connection is lost, and the request
    /// may have been executed. What is retried all the same is executed twice.
    ///
    /// - Parameter rate: How often.
    public static func droppedAnswer(rate: Double) -> ChaosFault {
        ChaosFault(.droppedAnswer, rate: rate)
    }
}
