import Foundation

extension HttpRequest {
    /// The request as a `curl` command for a POSIX shell, to try it by hand.
    ///
    /// ```text
    /// curl --request POST --user-agent Nautilus --header 'Content-Type: text/plain' --data-raw 'Hi'
    /// 'https://api.example.com/notes'
    /// ```
    /// With its secrets it sends exactly this request: method, target, fields and bytes. Where the request has none,
    /// the fields `User-Agent`, `Accept` and `Content-Type` are what `CurlTransport` sends, and no other field is
    /// curl's own. Bytes that an argument cannot carry are in the command as base64.
    ///
    /// - Parameter showsSecrets: Whether queries, secret path components, the values of sensitive fields, and the body
    ///   are shown. Default: false, since such commands end up in logs and tickets; if the hidden parts matter, the
    ///   command cannot be run as it is.
    /// - Returns: The command, on one line unless the body has several. A stream is never shown, only described. For a
    ///   request that ``validate()`` refuses, a command that says why.
    public func curlCommand(showsSecrets: Bool = false) -> String {
        do throws(HttpRequest.Invalid) {
            try validate()
        } catch {
            return "echo \("This request is not sent: \(error)".shellQuoted) >&2"
        }
        let body = CurlCommandBody(body, of: method, showsSecrets: showsSecrets)
        let target = showsSecrets ? url.withoutAuthorityUser ?? url.absoluteString : printedUrl
        var words = ["curl"]
        // Otherwise curl would expand them, or take a step within the path.
        if target.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        if target.lowercased().contains("/.") || target.lowercased().contains("/%2e") { words.append("--path-as-is") }
        // With `--request HEAD`, curl would wait for a body.
        words += method == .head ? ["--head"] : ["--request", method.rawValue.shellWord]
        if header[.userAgent] == nil { words += ["--user-agent", "Nautilus"] }
        for line in curlLines(body, showsSecrets: showsSecrets) { words += ["--header", line.shellQuoted] }
        words += body.words
        words.append(target.shellQuoted)
        return body.source + words.joined(separator: " ")
    }

    /// The lines of the header as curl takes them: a name with a colon alone leaves its own field out, one with a
    /// semicolon is sent without a value.
    private func curlLines(_ body: CurlCommandBody, showsSecrets: Bool) -> [String] {
        var lines: [String] = []
        var hasCookie = false
        for field in header.fields {
            var field = field
            if field.name == .cookie {
                if hasCookie { continue }
                hasCookie = true
                field = HttpHeader.Field(name: field.name, value: header.joinedCookies)
            }
            if field.value.hasOnly({ $0 == 0x20 || $0 == 0x09 }) {
                lines.append("\(field.name);")
            } else {
                lines.append(showsSecrets ? "\(field.name): \(field.value)" : redacted(field))
            }
        }
        guard !body.words.isEmpty else { return lines }
        if header[.contentType] == nil {
            lines.append(body.isEmpty ? "Content-Type:" : "Content-Type: application/octet-stream")
        }
        // Before a larger body, curl would ask whether it may send it.
        if !body.isSmall { lines.append("Expect:") }
        return lines
    }
}

/// The body of a request in a `curl` command.
private struct CurlCommandBody {
    /// The commands that write the body for curl's input; empty if the body is an argument.
    var source = ""
    /// The words of the command for the body; empty if it has none.
    var words: [String] = []
    let isEmpty: Bool
    /// Whether no version of curl sends `Expect` before it.
    let isSmall: Bool

    /// The largest body that is an argument: Linux takes 128 KiB.
    private static let argumentLimit = 100_000
    /// curl's oldest limit for a body without `Expect`.
    private static let smallLimit = 1_024

    init(_ payload: HttpBody.Payload, of method: HttpMethod, showsSecrets: Bool) {
        let bytes: Data?
        switch payload {
        case .empty: bytes = Data()
        case .data(let data): bytes = data
        case .stream(let stream): if case .bytes(let data)? = stream.whole { bytes = data } else { bytes = nil }
        }
        isEmpty = bytes?.isEmpty == true
        isSmall = bytes.map { $0.count <= Self.smallLimit } ?? false
        guard !isEmpty else {
            if method.expectsBody { words = ["--data-raw", "''"] }
            return
        }
        guard showsSecrets, let bytes else {
            words = ["--data-raw", "‹\(payload)›".shellQuoted]
            return
        }
        // `--data` and `--data-binary` would send the file that a text with `@` in front names.
        if let text = bytes.shellText, bytes.count <= Self.argumentLimit {
            words = ["--data-raw", text.shellQuoted]
        } else {
            source = "printf %s '\(bytes.base64EncodedString())' | base64 -d | "
            words = ["--data-binary", "@-"]
        }
    }
}

extension Data {
    /// The bytes as a text that an argument can carry, and a terminal: UTF-8 without control characters other than tab
    /// and line feed. Otherwise nil.
    fileprivate var shellText: String? {
        guard allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A }) else { return nil }
        let text = String(decoding: self, as: UTF8.self)
        return text.utf8.elementsEqual(self) ? text : nil
    }
}

extension String {
    /// The text quoted as one word for the shell.
    ///
    /// By scalars: to Foundation and to `Character`, a quote with a combining accent is no quote.
    fileprivate var shellQuoted: String {
        let quoted = unicodeScalars.reduce(into: "") { quoted, scalar in
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return "'\(quoted)'"
    }

    /// The text as one word for the shell, quoted only if it is not of letters alone.
    fileprivate var shellWord: String {
        hasOnly(\.isLetterOrDigit) ? self : shellQuoted
    }
}
