import Foundation

extension HttpRequest {
    /// The request as a command of `curl` for a POSIX shell, to be tried by hand.
    ///
    /// ```text
    /// curl --request POST --header 'Authorization: ‹redacted›' --data-binary '‹19 bytes›' 'https://api.example.com/notes?…'
    /// ```
    /// - Parameter showsSecrets: Whether queries, the values of sensitive fields, and the body are shown. Default:
    ///   false, since such a command ends in logs and tickets; it cannot be run then where one of them matters.
    /// - Returns: The command, on one line unless the body has several. A body that is a stream, or no text, is told by
    ///   its size in any case.
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

    /// The text as one word of a shell.
    private func quoted(_ text: String) -> String {
        "'\(text.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}
