import Foundation

/// The verdict of a call's own request on an answer.
///
/// A server may say in the body of a 200 that it has failed, and a network may answer in its place with a page of its own.
/// Only the request's type knows how to read either. An interceptor that keeps answers, or gives one call the answer to
/// another, asks by ``AttemptContext/verdict(on:)``.
public enum AnswerVerdict: Sendable {
    /// It can be decoded, or is an error whose body is not decoded; also the answer of a side request, which is not
    /// decoded.
    case taken
    /// It is an error in truth (``HttpResponse/rejection(as:)``): the answer with that error's status and header.
    case rejected(HttpResponse<Data>)
    /// It cannot be decoded: it is none of this API, or none that this version of it knows.
    case undecodable
}

extension AttemptContext {
    /// The verdict of the call's request on an answer, as it came in (``HttpResponse/asReceived``).
    ///
    /// An answer to another call's exchange is to be judged before it becomes this one's: the two requests may be of
    /// types that read it differently. Decoded once; the call goes on with the decoded result.
    ///
    /// In a context that a test has made, and where the body is still to come, it is ``AnswerVerdict/taken``.
    public func verdict(on response: HttpResponse<Data>) -> AnswerVerdict {
        guard !streamsResponse, !isSideRequest else { return .taken }
        return attempt?.verdict(on: response) ?? .taken
    }
}
