extension HttpHeader {
    /// The challenges of all `WWW-Authenticate` fields, in order; what does not parse is skipped.
    public var challenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(in: values(of: .wwwAuthenticate))
    }
}
