/// One way in which a server wants to be authorized, from `WWW-Authenticate` (RFC 9110 §11.6.1).
///
/// ```swift
/// error.response?.header.challenges.first { $0.scheme == "bearer" }?["error"]   // "invalid_token"
/// ```
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The scheme in lowercase, since its case means nothing: `bearer`, `basic`.
    public let scheme: String
    /// The parameters, unquoted, keyed by lowercase name; when a name is repeated, its first value.
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

    /// The challenges in the values of a header, in order; anything that does not parse is skipped.
    ///
    /// Reads at most 16 challenges and 16 KiB of all values together, more than any server needs: a longer header is
    /// only there to keep its reader busy. A challenge that extends beyond the limit is left out.
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

extension AuthenticationChallenge: Redacted {
    /// The scheme and, of the parameters, only `error` (RFC 6750 §3.1): a token68 may be part of a secret exchange.
    public var description: String {
        self["error"].map { "\(scheme) error=\($0)" } ?? scheme
    }
}

/// Parses `WWW-Authenticate`: one value may hold several challenges, whose own parameters are separated by commas, too.
///
/// A server may send anything, so nothing traps, and every byte is read a bounded number of times.
struct ChallengeParser {
    /// The most challenges read from a response: a server sends one or two, and all that are read are kept.
    static let maxChallenges = 16
    /// The most bytes of challenges read from a response: twice what most servers allow for a whole header.
    static let maxLength = 16_384

    /// A challenge that may still get parameters.
    fileprivate struct Draft {
        var scheme: String
        var parameters: [String: String] = [:]
        var token68: String?

        /// Adds a parameter unless its name is taken: a repeated name is not allowed, and may have been smuggled in.
        mutating func add(_ value: String, to name: String) {
            let name = name.lowercased()
            if parameters[name] == nil { parameters[name] = value }
        }
    }

    private var field: FieldReader
    private let maxChallenges: Int
    /// Whether the value is longer than the part that is read.
    private let isCut: Bool

    /// - Parameters:
    ///   - value: The field's value.
    ///   - maxLength: How many bytes of the value are read at most.
    ///   - maxChallenges: How many challenges are read at most.
    init(_ value: String, maxLength: Int = Self.maxLength, maxChallenges: Int = Self.maxChallenges) {
        field = FieldReader(value, maxLength: maxLength)
        isCut = value.utf8.count > maxLength
        self.maxChallenges = maxChallenges
    }

    /// How many bytes have been read: the cost of a hostile header.
    var steps: Int { field.steps }

    /// The challenges, in order.
    mutating func challenges() -> [AuthenticationChallenge] {
        var drafts: [Draft] = []
        while !field.isAtEnd {
            field.skip { $0.isBlank || $0 == .comma }
            guard let token = readToken() else {
                skipGarbage()
                continue
            }
            // A token followed by "=" belongs to the challenge before it; any other begins a new one.
            if let value = readParameterValue() {
                if let last = drafts.indices.last { drafts[last].add(value, to: token) }
            } else {
                guard drafts.count < maxChallenges else { return drafts.map(AuthenticationChallenge.init) }
                drafts.append(Draft(scheme: token, token68: readToken68()))
            }
        }
        // The last challenge may be cut short, and lack the parameter that changes its meaning.
        if isCut { _ = drafts.popLast() }
        return drafts.map(AuthenticationChallenge.init)
    }

    private mutating func readToken() -> String? {
        let token = field.readToken()
        return token.isEmpty ? nil : token
    }

    /// Reads `= token` or `= "quoted"`, blanks allowed (RFC 9110 §5.6.6); nil, and nothing read, when there is no `=`.
    private mutating func readParameterValue() -> String? {
        let start = field.position
        field.skipBlanks()
        guard field.skip("=") else {
            field.goBack(to: start)
            return nil
        }
        field.skipBlanks()
        if field.current == .quote { return field.readQuoted().text }
        // Lenient: many servers leave out the quotes around a URL.
        return field.read { !$0.isBlank && $0 != .comma && $0 != .quote }
    }

    /// Reads the token68 after a scheme; nil, and nothing read, when parameters or another challenge follow.
    private mutating func readToken68() -> String? {
        let start = field.position
        field.skipBlanks()
        let textStart = field.position
        // A token68 needs a blank in front. Checked first; otherwise the text would be scanned again from each `/` in
        // it.
        guard start < textStart else { return nil }
        field.skip { $0.isToken68Character }
        let hasText = field.position > textStart
        field.skip { $0 == .equals }
        let text = field.text(from: textStart)
        field.skipBlanks()
        guard hasText, field.isAtEnd || field.current == .comma else {
            field.goBack(to: start)
            return nil
        }
        return text
    }

    /// Skips text that cannot begin a token: a quoted text as a whole, so that commas in it do not separate challenges.
    private mutating func skipGarbage() {
        if field.current == .quote { _ = field.readQuoted() } else { field.skip() }
    }
}

extension AuthenticationChallenge {
    fileprivate init(_ draft: ChallengeParser.Draft) {
        self.init(scheme: draft.scheme, parameters: draft.parameters, token68: draft.token68)
    }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")

    /// Whether a token68 may contain this character, apart from a final `=` (RFC 9110 §11.2).
    fileprivate var isToken68Character: Bool {
        isLetterOrDigit || "-._~+/".utf8.contains(self)
    }
}

extension HttpHeader {
    /// The challenges of all `WWW-Authenticate` fields, in order; anything that does not parse is skipped.
    public var challenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(in: values(of: .wwwAuthenticate))
    }
}
