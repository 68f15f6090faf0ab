import Foundation

/// An answer and its result. Its type is not generic over the request: otherwise the runtime would have to look it up
/// every time an answer is passed on.
struct DecodedAnswer: Sendable {
    /// The answer as it arrived.
    let received: HttpResponse<Data>
    /// The answer as it goes on to the interceptors, if that differs; nil otherwise.
    private var rejected: HttpResponse<Data>?
    let result: Result<any Sendable, any Error>
    /// The failure that the answer reports; nil for none.
    private(set) var rejection: HttpError?

    init(_ received: HttpResponse<Data>, _ result: Result<any Sendable, any Error>) {
        (self.received, self.result) = (received, result)
        if case .failure(let error as HttpError) = result, !error.isFinal,
            case .status(let status) = error.kind, (400...599).contains(status)
        {
            var seen = received
            seen.reject(by: error)
            (rejected, rejection) = (seen, error)
        }
    }

    func isReceived(as response: HttpResponse<Data>) -> Bool { Self.isSame(received, response) }
    func isSeen(as response: HttpResponse<Data>) -> Bool { Self.isSame(rejected ?? received, response) }

    private static func isSame(_ own: HttpResponse<Data>, _ response: HttpResponse<Data>) -> Bool {
        guard let exchange = response.exchange, let origin = own.exchange else { return false }
        return (origin.call, origin.number) == (exchange.call, exchange.number)
            && own.status == response.status && own.header == response.header && own.body == response.body
    }
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
