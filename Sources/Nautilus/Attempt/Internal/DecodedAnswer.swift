import Foundation

/// An answer and its result. Its type is not generic over the request: otherwise the runtime would have to look it up
/// every time an answer is passed on.
struct DecodedAnswer: Sendable {
    /// The facts by which an answer is recognised. Not the answer itself: kept twice, it would be copied when the call
    /// adds its trace.
    private struct Seen: Sendable {
        let exchange: CallTrace.Exchange?
        let status: Int
        let header: HttpHeader
        let body: Data

        init(_ response: HttpResponse<Data>) {
            (exchange, status) = (response.exchange, response.status)
            (header, body) = (response.header, response.body)
        }

        func isSame(as response: HttpResponse<Data>) -> Bool {
            guard let answered = response.exchange, let exchange else { return false }
            return (exchange.call, exchange.number) == (answered.call, answered.number)
                && status == response.status && header == response.header && body == response.body
        }
    }

    /// The answer as it arrived.
    private let received: Seen
    /// The answer as it goes on to the interceptors, if that differs; nil otherwise.
    private var rejected: Seen?
    let result: Result<any Sendable, any Error>
    /// The failure that the answer reports; nil for none.
    private(set) var rejection: HttpError?

    init(_ received: HttpResponse<Data>, _ result: Result<any Sendable, any Error>) {
        (self.received, self.result) = (Seen(received), result)
        if case .failure(let error as HttpError) = result, !error.isFinal,
            case .status(let status) = error.kind, (400...599).contains(status)
        {
            var seen = received
            seen.reject(by: error)
            (rejected, rejection) = (Seen(seen), error)
        }
    }

    func isReceived(as response: HttpResponse<Data>) -> Bool { received.isSame(as: response) }
    func isSeen(as response: HttpResponse<Data>) -> Bool { (rejected ?? received).isSame(as: response) }
}

/// A list that nearly always holds one answer, which needs no array.
struct DecodedAnswerList: Sendable {
    /// More than an attempt has sends. An interceptor that has many answers judged must not fill the memory with them;
    /// one that is no longer known is decoded again.
    private static var maxCount: Int { 8 }

    private var first: DecodedAnswer?
    private var others: [DecodedAnswer] = []

    mutating func append(_ answer: DecodedAnswer) {
        guard first != nil else {
            first = answer
            return
        }
        if others.count >= Self.maxCount { others.removeFirst() }
        others.append(answer)
    }

    func first(where matches: (DecodedAnswer) -> Bool) -> DecodedAnswer? {
        if let first, matches(first) { return first }
        return others.first(where: matches)
    }
}
