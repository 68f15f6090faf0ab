import Foundation
import Nautilus

/// Creates a note, exactly once however often it is sent.
public struct CreateNote {
    private struct Draft: Encodable {
        let title: String
        let text: String
    }

    /// The note's title.
    public let title: String
    /// The note's text.
    public let text: String
    /// Under which key the server recognises a repetition.
    public let idempotencyKey: String

    /// Creates the request.
    ///
    /// - Parameter idempotencyKey: Drawn here and not per attempt, so that every attempt carries the same.
    ///   Default: a random one.
    public init(title: String, text: String, idempotencyKey: String = UUID().uuidString) {
        self.title = title
        self.text = text
        self.idempotencyKey = idempotencyKey
    }
}
extension CreateNote: JsonRequest {
    /// The note as the server keeps it.
    public typealias Result = Note

    /// POST.
    public var method: HttpMethod { .post }
    /// `notes`.
    public var route: HttpRoute { ["notes"] }
    /// The key: with it, a POST is retried like any idempotent request.
    public var header: HttpHeader { [.idempotencyKey: idempotencyKey] }
    /// Title and text.
    public var body: HttpBody { .json(Draft(title: title, text: text)) }
    /// 10 s: a note is small, and another attempt is better than a long silence.
    public var timeout: Duration? { .seconds(10) }
}
