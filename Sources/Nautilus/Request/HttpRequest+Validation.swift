extension HttpRequest {
    /// Refuses a request that must not go on the wire.
    ///
    /// Asked more than once on a request's way: interceptors and retriers add fields, and a transport may be used alone.
    /// A transport asks before it sends anything.
    ///
    /// - Throws: ``InvalidRequest``: the method or a name is no token, a value would split the header, or the method
    ///   carries no body.
    public func validate() throws(InvalidRequest) {
        try validate(trusting: nil)
    }

    /// Refuses a request that must not go on the wire, without another look at a header that has been checked before.
    ///
    /// - Parameter checked: That header; nil when none has been.
    /// - Throws: The errors of ``validate()``.
    func validate(trusting checked: HttpHeader?) throws(InvalidRequest) {
        guard method.rawValue.isToken else { throw .method }
        if checked.map(header.isIdentical) != true { try header.validate() }
        guard body.isEmpty || !["GET", "HEAD", "TRACE"].contains(method.rawValue) else {
            throw .bodyNotAllowed(method)
        }
    }
}

extension HttpHeader {
    /// Refuses fields that would not stay a header.
    func validate() throws(InvalidRequest) {
        for field in fields {
            guard field.name.rawValue.isToken else { throw .headerName }
            guard field.value.hasOnly({ $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else {
                throw .headerValue(name: field.name)
            }
        }
    }
}

extension String {
    fileprivate var isToken: Bool {
        !utf8.isEmpty && hasOnly(\.isTokenCharacter)
    }
}
