import Foundation
import Nautilus

/// A request that a cache may answer, and the attempt that it belongs to.
struct CacheQuestion: Sendable {
    let request: HttpRequest
    let target: CacheTarget
    let account: CallAccount
    let control: CacheControl
    let context: AttemptContext

    init(_ request: HttpRequest, _ target: CacheTarget, _ account: CallAccount, _ context: AttemptContext) {
        (self.request, self.target, self.account, self.context) = (request, target, account, context)
        control = CacheControl(request.header)
    }

    /// The partition whose answers it may be given.
    var partition: CachePartition { account.partition }
}

/// The server's answer to a question, and how it came.
struct CacheAnswer {
    let response: HttpResponse<Data>
    let question: CacheQuestion
    let fetch: Int64
    /// The request as it went on the wire, where that is known; else as the cache saw it.
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

    /// Whether it answers the request that was made: a redirect's answer is another URL's, and so is the answer to a
    /// request that an interceptor further in has made in place of it.
    var isOfTarget: Bool {
        guard sent.method == question.request.method, sent.body.isEmpty, CacheTarget(sent) == question.target else {
            return false
        }
        return response.url.map { CacheTarget($0) == question.target } ?? true
    }

    /// Whether others of the same account may get it.
    var isOwn: Bool { isOfTarget && isOfThisAttempt && watch.allowsSharing }

    /// Whether this attempt has had it from the server. An answer to another call, which this one waited for, is kept
    /// by that call. An answer that an interceptor has made by itself shows no user.
    private var isOfThisAttempt: Bool {
        if let exchange = response.exchange { return exchange.call == question.context.call.id }
        return watch.sent != nil || question.context.call == .none
    }

    /// Whether either side of the wire wants it kept nowhere.
    var mustNotBeKept: Bool { question.control.noStore || CacheControl(sent.header).noStore }

    /// The response as it would be stored; nil when its `Vary` leaves it to no other request.
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
