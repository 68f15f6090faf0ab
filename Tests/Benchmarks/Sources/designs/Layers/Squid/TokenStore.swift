/// Where the app keeps its token, in place of a keychain.
final class TokenStore: Sendable {
    private let state: Locked<Token>

    init(_ token: Token) {
        state = Locked(token)
    }

    var token: Token {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
