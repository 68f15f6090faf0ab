import Foundation
import Nautilus

/// The server's answer to a question, and how it came.
struct CacheAnswer {
    let response: HttpResponse<Data>
    let question: CacheQuestion
    let fetch: Int64
    /// The request as it went on the wire, if that is known; otherwise as the cache saw it.
    let sent: HttpRequest
    private let watch: ExchangeWatch
    private let requestTime: Int64
    private let responseTime: Int64

    init(
        _ response: HttpResponse<Data>,
        _ question: CacheQuestion,
        _ fetch: Int64,
        _ watch: ExchangeWatch,
        requestTime: Int64,
        responseTime: Int64
    ) {
        (self.response, self.question, self.fetch, self.watch) = (response, question, fetch, watch)
        sent = watch.sent ?? response.request ?? question.request
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
    }

    /// Whether the response answers the request that was made. It does not if a redirect led to another URL, or if an
    /// interceptor further in sent another request in its place.
    var isOfTarget: Bool {
        guard sent.method == question.request.method, sent.body.isEmpty, CacheTarget(sent) == question.target else {
            return false
        }
        return response.url.map { CacheTarget($0) == question.target } ?? true
    }

    /// Whether the answer may be given to others of the same account.
    var isOwn: Bool { isOfTarget && isOfThisAttempt && watch.allowsSharing }

    /// Whether this attempt itself got the answer from the server. An answer to another call, for which this one
    /// waited, is kept by that call. An answer that an interceptor made by itself does not show whose it is.
    private var isOfThisAttempt: Bool {
        if let exchange = response.exchange { return exchange.call == question.context.call.id }
        return watch.sent != nil || question.context.call == .none
    }

    /// Whether the request forbids storing its answer, as the cache saw it or as it went on the wire.
    var mustNotBeKept: Bool { question.control.noStore || CacheControl(sent.header).noStore }

    /// The response as it would be stored; nil when its `Vary` rules out every other request.
    var stored: StoredResponse? {
        StoredResponse(
            response,
            to: question.request,
            sent: sent,
            of: question.partition,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    func renewed(_ stored: StoredResponse) -> StoredResponse? {
        stored.freshened(
            by: response,
            to: question.request,
            sent: sent,
            of: question.partition,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}
