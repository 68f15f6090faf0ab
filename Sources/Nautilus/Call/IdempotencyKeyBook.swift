import Foundation

/// The `Idempotency-Key`s that a call's requests were first sent with: one for each request that means something else.
///
/// A key says "this is the same request again". So the attempt's own request keeps its key on every attempt, though an
/// interceptor draws it anew, and no other request ever gets it: a server would answer the one with the other's result. A
/// side request that comes again in a later attempt keeps its own.
struct IdempotencyKeyBook {
    /// The key of the attempt's own request; nil when it has none.
    private(set) var own: String?
    /// The request that the own key was sent with, where an interceptor has made another body of the built one; nil where it has not.
    private var changed: Sent?
    private var built: HttpRequest?
    private var asides: [Sent] = []

    /// A request that was sent with a key.
    private struct Sent {
        let method: HttpMethod
        let url: URL
        let body: HttpBody.Payload
        let key: String
        /// The attempt that it was last sent in.
        var attempt: Int

        init(_ request: HttpRequest, _ key: String, _ attempt: Int) {
            (method, url, body) = (request.method, request.url, request.body)
            (self.key, self.attempt) = (key, attempt)
        }
    }

    /// Takes note of the request that an attempt was built as, and marks it.
    mutating func mark(_ request: inout HttpRequest) {
        request.isBuilt = true
        built = request
    }

    /// Gives the request that is being built the key of the attempts before, or takes note of its own.
    mutating func keepOwn(in header: inout HttpHeader) {
        if let own {
            if header[.idempotencyKey] != own { header[.idempotencyKey] = own }
        } else {
            own = header[.idempotencyKey]
        }
    }

    /// Gives a request that goes out the key that it was first sent with, or takes note of its key.
    ///
    /// - Parameters:
    ///   - kind: What is known of it.
    ///   - attempt: The number of the attempt.
    /// - Returns: Whether it is the attempt's own.
    mutating func finish(_ request: inout HttpRequest, _ kind: RequestBuilder.Kind, attempt: Int) -> Bool {
        let isOwn =
            switch kind {
            case .own: true
            case .passedOn: isOwn(request, attempt)
            case .aside: false
            }
        guard isOwn else {
            finishAside(&request, attempt)
            return false
        }
        keepOwn(in: &request.header)
        return true
    }

    /// Whether it is the request that was built, as it is or changed on its way: signed, compressed, sent to another host.
    ///
    /// Another method or path is another request. A new one with another body is, too; a changed one with another body is
    /// when it brings a key of its own.
    private mutating func isOwn(_ request: HttpRequest, _ attempt: Int) -> Bool {
        guard let built, request.method == built.method,
            request.url == built.url || request.url.path(percentEncoded: true) == built.url.path(percentEncoded: true)
        else { return false }
        let key = request.header[.idempotencyKey]
        if request.body.isIdentical(to: built.body) {
            // What was taken for the own request before was none: this is the body that was built.
            if let other = changed.take(), let key, key != other.key {
                own = key
                asides.append(other)
            }
            return true
        }
        guard request.isBuilt else { return false }
        guard let key, let known = own, key != known else {
            if let key, own == nil { changed = Sent(request, key, attempt) }
            return true
        }
        return changed.map { request.body.isIdentical(to: $0.body) } ?? false
    }

    private mutating func finishAside(_ request: inout HttpRequest, _ attempt: Int) {
        guard let key = request.header[.idempotencyKey] else { return }
        let index = asides.firstIndex { aside in
            aside.attempt < attempt && aside.method == request.method && aside.url == request.url
                && aside.body.isIdentical(to: request.body)
        }
        if let index {
            asides[index].attempt = attempt
            request.header[.idempotencyKey] = asides[index].key
        } else {
            asides.append(Sent(request, key, attempt))
        }
    }
}

extension HttpBody.Payload {
    /// Whether both are the same bytes; false for streams, which cannot be compared.
    fileprivate func isIdentical(to other: HttpBody.Payload) -> Bool {
        switch (self, other) {
        case (.empty, .empty): true
        case (.data(let own), .data(let other)): own == other
        default: false
        }
    }
}
