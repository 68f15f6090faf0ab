import Foundation

/// The `Idempotency-Key`s that a call's requests were first sent with: one for each request with a meaning of its own.
///
/// A key says "this is the same request again". So the attempt's own request keeps its key in every attempt, even if an
/// interceptor draws a new one, and no other request ever gets that key: a server would answer one request with the
/// other's result. A side request that is repeated in a later attempt keeps its own key.
struct IdempotencyKeyBook {
    /// The key of the attempt's own request; nil when it has none.
    private(set) var own: String?
    /// The request that ``own`` was sent with, if an interceptor had changed the body of the built request; nil
    /// otherwise.
    private var changed: Sent?
    private var built: HttpRequest?
    private var asides: [Sent] = []

    /// A request that was sent with a key.
    private struct Sent {
        let method: HttpMethod
        let url: URL
        let body: HttpBody.Payload
        let key: String
        /// The attempt in which the request was last sent.
        var attempt: Int

        init(_ request: HttpRequest, _ key: String, _ attempt: Int) {
            (method, url, body) = (request.method, request.url, request.body)
            (self.key, self.attempt) = (key, attempt)
        }
    }

    /// Records the request that an attempt was built as, and marks it.
    mutating func mark(_ request: inout HttpRequest) {
        request.isBuilt = true
        built = request
    }

    /// Gives the request that is being built the key of the earlier attempts, or records its key as ``own``.
    ///
    /// Does not keep a key that was sent only with a changed body: that may have been another request, and the
    /// attempt's own request draws a new key.
    mutating func keepOwn(in header: inout HttpHeader) {
        guard changed == nil else { return }
        if let own {
            if header[.idempotencyKey] != own { header[.idempotencyKey] = own }
        } else {
            own = header[.idempotencyKey]
        }
    }

    /// Gives an outgoing request the key that it was first sent with, or records its key.
    ///
    /// - Parameters:
    ///   - kind: The kind of request, as far as it is known.
    ///   - attempt: The number of the attempt.
    /// - Returns: Whether it is the attempt's own request.
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
        if let own {
            if request.header[.idempotencyKey] != own { request.header[.idempotencyKey] = own }
        } else {
            own = request.header[.idempotencyKey]
        }
        return true
    }

    /// Whether it is the request that was built, unchanged or changed on its way: signed, compressed, sent to another
    /// path.
    ///
    /// A request with another method is not the attempt's own, nor is one whose body was sent in a side request before.
    /// A newly made request counts as the attempt's own if it equals the one that was built.
    private mutating func isOwn(_ request: HttpRequest, _ attempt: Int) -> Bool {
        guard let built, request.method == built.method else { return false }
        let key = request.header[.idempotencyKey]
        if request.body.isIdentical(to: built.body) {
            guard request.isBuilt || request.url == built.url else { return false }
            // The request that has counted as the attempt's own so far is a different one: this one has the body as
            // built.
            if let other = changed.take(), key != other.key {
                own = key
                asides.append(other)
            }
            return true
        }
        guard request.isBuilt, aside(for: request, before: attempt) == nil else { return false }
        if let key, own == nil { changed = Sent(request, key, attempt) }
        return true
    }

    private func aside(for request: HttpRequest, before attempt: Int) -> Int? {
        asides.firstIndex { aside in
            aside.attempt < attempt && aside.method == request.method && aside.url == request.url
                && aside.body.isIdentical(to: request.body)
        }
    }

    private mutating func finishAside(_ request: inout HttpRequest, _ attempt: Int) {
        guard let key = request.header[.idempotencyKey] else { return }
        if let index = aside(for: request, before: attempt) {
            asides[index].attempt = attempt
            request.header[.idempotencyKey] = asides[index].key
        } else {
            asides.append(Sent(request, key, attempt))
        }
    }
}

extension HttpRequest {
    /// This request, passed on by an interceptor that was given `given`. If both its body and its key differ, it is not
    /// a changed version of `given` but a new request.
    func passedOn(insteadOf given: HttpRequest) -> HttpRequest {
        guard !given.pathSecrets.isEmpty, pathSecrets.isEmpty else { return newIfOther(than: given) }
        // What the call's route has marked as secret is in a URL that was made of its own, too.
        var request = newIfOther(than: given)
        request.pathSecrets = given.pathSecrets
        return request
    }

    private func newIfOther(than given: HttpRequest) -> HttpRequest {
        guard isBuilt, body.isOther(than: given.body),
            header[.idempotencyKey] != given.header[.idempotencyKey]
        else { return self }
        var request = self
        request.isBuilt = false
        return request
    }

    /// This request without its key if that is the key of the call's own request, which a side request must not have.
    func withoutKey(_ own: String?) -> HttpRequest {
        guard let own, header[.idempotencyKey] == own else { return self }
        var request = self
        request.header[.idempotencyKey] = nil
        return request
    }
}

extension HttpBody.Payload {
    /// Whether both consist of the same bytes; false for streams, which cannot be compared.
    fileprivate func isIdentical(to other: HttpBody.Payload) -> Bool {
        switch (self, other) {
        case (.empty, .empty): true
        case (.data(let own), .data(let other)): own == other
        default: false
        }
    }

    /// Whether the bodies certainly differ; a stream may still be the same one.
    fileprivate func isOther(than given: HttpBody.Payload) -> Bool {
        if case (.stream, .stream) = (self, given) { return false }
        return !isIdentical(to: given)
    }
}
