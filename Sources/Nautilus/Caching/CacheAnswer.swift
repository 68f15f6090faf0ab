import Foundation

/// The server's answer to a question, and what is known of how it came.
struct CacheAnswer {
    let response: HttpResponse<Data>
    let question: CacheQuestion
    let fetch: Int64
    private let watch: CredentialWatch
    private let requestTime: Int64
    private let responseTime: Int64

    init(
        _ response: HttpResponse<Data>,
        _ question: CacheQuestion,
        _ fetch: Int64,
        _ watch: CredentialWatch,
        requestTime: Int64,
        responseTime: Int64
    ) {
        (self.response, self.question, self.fetch, self.watch) = (response, question, fetch, watch)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
    }

    /// Whether it comes from where it was asked for: what a redirect led to is another URL's.
    var isOfTarget: Bool { response.url.map { CacheTarget($0) == question.target } ?? true }

    /// Whether others of the same account may get it.
    var isOwn: Bool { isOfTarget && watch.allowsSharing(of: question.request) }

    /// The response as it would be stored; nil when its `Vary` leaves it to nobody else.
    var stored: StoredResponse? {
        StoredResponse(
            response,
            to: question.request,
            of: question.partition,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    func renewed(_ stored: StoredResponse) -> StoredResponse? {
        stored.freshened(
            by: response,
            to: question.request,
            of: question.partition,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}
