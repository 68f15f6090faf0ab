import Foundation
import Nautilus

/// The server's answer to a question, and how it came.
struct ServerAnswer {
    let response: HttpResponse<Data>
    let question: CacheQuestion
    let fetch: Int64
    /// The request as it went on the wire, if that is known; otherwise as the cache saw it.
    let sent: HttpRequest
    /// Whether it carried a credential.
    private let hasCredential: Bool
    private let requestTime: Int64
    private let responseTime: Int64

    init(
        _ response: HttpResponse<Data>,
        _ question: CacheQuestion,
        _ fetch: Int64,
        besides appFields: Set<HttpHeader.Name>,
        requestTime: Int64,
        responseTime: Int64
    ) {
        (self.response, self.question, self.fetch) = (response, question, fetch)
        sent = response.request ?? question.request
        hasCredential = sent.hasCredential(besides: appFields)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
    }

    /// Whether the response answers the request that was made. It does not if a redirect led to another URL, if a
    /// later interceptor sent another request in its place, or if it may have gone out for another account.
    var isOfTarget: Bool {
        guard sent.method == question.request.method, sent.body.isEmpty, CacheTarget(sent) == question.target else {
            return false
        }
        return question.isCurrent && (response.url.map { CacheTarget($0) == question.target } ?? true)
    }

    /// Whether the answer may be given to others of the same account.
    var isOwn: Bool {
        isOfTarget && isOfThisCall && (!hasCredential || question.partition.account != nil)
    }

    /// Whether this call itself got the answer from the server. An answer to another call, for which this one waited, is
    /// kept by that call. An answer that an interceptor made by itself does not show whose it is.
    private var isOfThisCall: Bool {
        response.exchange.map { $0.call == question.context.call.id } ?? (question.context.call == .none)
    }

    /// Whether the request forbids storing its answer, as the cache saw it or as it went on the wire.
    var mustNotBeKept: Bool { question.control.noStore || CacheControl(sent.header).noStore }

    /// The response as it would be stored; nil when its `Vary` rules out every other request.
    var stored: StoredResponse? {
        selectors(of: response.header).map { selectors in
            StoredResponse(
                status: response.status,
                header: response.header,
                body: response.body,
                selectors: selectors,
                requestTime: requestTime,
                responseTime: responseTime
            )
        }
    }

    /// A stored response as the answer renews it; nil when no other request may get it any longer.
    func renewed(_ stored: StoredResponse) -> StoredResponse? {
        var renewed = stored.freshened(by: response, requestTime: requestTime, responseTime: responseTime)
        guard let selectors = selectors(of: renewed.header) else { return nil }
        renewed.selectors = selectors
        return renewed
    }

    private func selectors(of header: HttpHeader) -> VarySelectors? {
        VarySelectors(header, seen: question.request, sent: sent, question.partition)
    }
}
