/// One way in which a server wants to be authorized, from `WWW-Authenticate` (RFC 9110 §11.6.1).
///
/// ```swift
/// error.response?.header.challenges.first { $0.scheme == "bearer" }?["error"]   // "invalid_token"
/// ```
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The scheme in small letters, since its case means nothing: `bearer`, `basic`.
    public let scheme: String
    /// The parameters by their names in small letters; of a repeated name the first value. Values are unquoted.
    public let parameters: [String: String]
    /// The text that some schemes, such as Negotiate, send in place of parameters; nil when there is none.
    public let token68: String?

    /// Creates a challenge, as a test does.
    ///
    /// - Parameters:
    ///   - scheme: The scheme, in whatever case.
    ///   - parameters: The parameters, unquoted, their names in whatever case. Default: none, as `Negotiate` alone.
    ///   - token68: The text in place of parameters. Default: nil, as most schemes have none.
    public init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme.lowercased()
        self.parameters = .init(
            parameters.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        self.token68 = token68
    }

    /// The value of a parameter, in whatever case; nil when there is none.
    public subscript(name: String) -> String? { parameters[name.lowercased()] }

    /// The challenges in the values of a header, in order; what does not parse is skipped.
    ///
    /// Of all values together, the first 16 challenges and the first 16 KiB are read, more than any server means: a
    /// longer header is there to keep its reader busy. A challenge that goes on beyond that is left out.
    public static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        var (challenges, length) = ([AuthenticationChallenge](), 0)
        for value in values {
            let rest = ChallengeParser.maxLength - length
            guard rest > 0, challenges.count < ChallengeParser.maxChallenges else { break }
            var parser = ChallengeParser(
                value,
                maxLength: rest,
                maxChallenges: ChallengeParser.maxChallenges - challenges.count
            )
            challenges += parser.challenges()
            length += value.utf8.count
        }
        return challenges
    }
}

extension AuthenticationChallenge: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and, of the parameters, only `error` (RFC 6750 §3.1): a token68 may be part of a secret exchange.
    public var description: String {
        self["error"].map { "\(scheme) error=\($0)" } ?? scheme
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["challenge": description])
    }
}
