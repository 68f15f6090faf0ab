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

extension AuthenticationChallenge: Redacted {
    /// The scheme and, of the parameters, only `error` (RFC 6750 §3.1): a token68 may be part of a secret exchange.
    public var description: String {
        self["error"].map { "\(scheme) error=\($0)" } ?? scheme
    }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["challenge": description])
    }
}

/// Reads `WWW-Authenticate`: several challenges in one value, whose own parameters are separated by commas as well.
///
/// A server may send anything, so nothing traps, and every byte is looked at a bounded number of times.
struct ChallengeParser {
    /// The most challenges of a response: a server has one or two, and each is kept.
    static let maxChallenges = 16
    /// The most bytes of a response's challenges, twice what most servers let a whole header have.
    static let maxLength = 16_384

    /// A challenge that may still get parameters.
    fileprivate struct Draft {
        var scheme: String
        var parameters: [String: String] = [:]
        var token68: String?

        /// Of a repeated name the first value counts: a second one is not allowed, and may have been smuggled in.
        mutating func add(_ value: String, to name: String) {
            let name = name.lowercased()
            if parameters[name] == nil { parameters[name] = value }
        }
    }

    private var field: FieldReader
    private let maxChallenges: Int
    /// The value is longer than the part that is read.
    private let isCut: Bool

    /// - Parameters:
    ///   - value: The field's value.
    ///   - maxLength: How many of its bytes are read.
    ///   - maxChallenges: How many challenges are read.
    init(_ value: String, maxLength: Int = Self.maxLength, maxChallenges: Int = Self.maxChallenges) {
        field = FieldReader(value, maxLength: maxLength)
        isCut = value.utf8.count > maxLength
        self.maxChallenges = maxChallenges
    }

    /// How many bytes have been looked at: what a hostile header costs.
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
        // Its end may be missing, and with it the parameter that changes what it means.
        if isCut { _ = drafts.popLast() }
        return drafts.map(AuthenticationChallenge.init)
    }

    private mutating func readToken() -> String? {
        let token = field.readToken()
        return token.isEmpty ? nil : token
    }

    /// `= token` or `= "quoted"`, blanks allowed (RFC 9110 §5.6.6); nil, and nothing read, when there is no `=`.
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

    /// A token68 after a scheme; nil, and nothing read, when parameters or another challenge follow.
    private mutating func readToken68() -> String? {
        let start = field.position
        field.skipBlanks()
        let textStart = field.position
        // Without a blank in front it is no token68. Asked first: it would be looked at again from each `/` in it.
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

    /// Skips what cannot begin a token: a quoted text as a whole, so that its commas separate nothing.
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

    /// Whether a token68 may contain it; its final `=` apart (RFC 9110 §11.2).
    fileprivate var isToken68Character: Bool {
        isLetterOrDigit || "-._~+/".utf8.contains(self)
    }
}

extension HttpHeader {
    /// The challenges of all `WWW-Authenticate` fields, in order; what does not parse is skipped.
    public var challenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(in: values(of: .wwwAuthenticate))
    }
}
