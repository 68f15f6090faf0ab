import Foundation
import Nautilus

extension OAuthError {
    /// Translates the failure of a request to the authorization server.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - secrets: The values that were sent; if the server repeats one, it is not printed.
    ///   - spends: Whether the request spends something, so that it matters whether it ran. Default: true, as a
    ///     refresh.
    init(_ error: HttpError, hiding secrets: [String] = [], spends: Bool = true) {
        let reply = error.response.flatMap { ErrorReply($0.body, contentType: $0.contentType, hiding: secrets) }
        var kind = Kind(error, reply)
        if kind == .unavailable, spends, error.hasUnansweredAttempt { kind = .answerLost }
        self.init(kind, serverDescription: reply?.serverDescription, httpError: error)
    }

    /// Translates a successful response that cannot be used.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - malformed: The fault in it.
    ///   - secrets: The values that were sent; if the server repeats one, it is not printed.
    init(_ response: HttpResponse<Data>, _ malformed: MalformedReply, hiding secrets: [String] = []) {
        // Some servers refuse with 200. A redirect is not theirs for certain, and must not end a session.
        let isSuccess = (200...299).contains(response.status)
        let reply =
            isSuccess ? ErrorReply(response.body, contentType: response.contentType, hiding: secrets) : nil
        self.init(
            reply?.kind ?? .malformedReply(reason: malformed.reason),
            serverDescription: reply?.serverDescription,
            httpError: HttpError(unusable: response)
        )
    }
}

extension OAuthError.Kind {
    fileprivate init(_ error: HttpError, _ reply: ErrorReply?) {
        switch error.kind {
        case .cancelled: self = .cancelled
        case .invalidRequest(let reason): self = .invalidParameter(reason: reason.description)
        case .redirect(let refusal): self = .malformedReply(reason: refusal.description)
        case .decoding: self = .malformedReply(reason: "it does not decode")
        case .status(let status): self.init(status: status, reply)
        case .environmentChanged: self = .invalidParameter(reason: "the endpoint has moved while it was asked")
        case .transport, .timeout, .deadline, .responseTooLarge, .refused, .authorization, .custom: self = .unavailable
        }
    }

    private init(status: Int, _ reply: ErrorReply?) {
        switch status {
        // Overload and outage tell nothing about the grant, whatever their body says.
        case 408, 425, 429, 500...599: self = .unavailable
        case 400...499: self = reply?.kind ?? .malformedReply(reason: "status \(status) without an error code")
        default: self = .malformedReply(reason: "status \(status)")
        }
    }
}

extension HttpError {
    /// A success that cannot be used, as a failure: with its trace, and without its body, in which there may be tokens.
    fileprivate init(unusable response: HttpResponse<Data>) {
        self.init(
            (200...299).contains(response.status) ? .decoding : .status(response.status),
            stage: .decode,
            request: response.trace.request,
            response: response.replacingBody(Data()),
            retryAfter: response.header.retryAfter(),
            attempt: response.trace.attempts.count
        )
        trace = response.trace
    }
}

extension HttpResponse<Data> {
    fileprivate var contentType: String? { header.values(of: .contentType).first }
}
