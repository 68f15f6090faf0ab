import Foundation

extension HttpRequest {
    /// The request as a `curl` command for a POSIX shell, to try it by hand.
    ///
    /// ```text
    /// curl --request POST --header 'Authorization: ‹redacted›' --data-binary '‹19 bytes›' 'https://api.example.com/notes?…'
    /// ```
    /// - Parameter showsSecrets: Whether queries, the values of sensitive fields, and the body are shown. Default:
    ///   false, since such commands end up in logs and tickets; if the hidden parts matter, the command cannot be run
    ///   as it is.
    /// - Returns: The command, on one line unless the body has several. A stream, or a body that is not text, is never
    ///   shown, only described.
    public func curlCommand(showsSecrets: Bool = false) -> String {
        var words = ["curl", "--request", method.rawValue]
        for field in header.fields {
            words += ["--header", quoted(showsSecrets ? "\(field.name): \(field.value)" : redacted(field))]
        }
        switch body {
        case .empty: break
        case .data(let data) where showsSecrets:
            words += ["--data-binary", quoted(String(bytes: data, encoding: .utf8) ?? "‹\(body)›")]
        case .data, .stream:
            words += ["--data-binary", quoted("‹\(body)›")]
        }
        words.append(quoted(showsSecrets ? url.absoluteString : url.withoutSecrets))
        return words.joined(separator: " ")
    }

    /// The text quoted as one word for the shell.
    private func quoted(_ text: String) -> String {
        "'\(text.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}
