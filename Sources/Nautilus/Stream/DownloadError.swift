/// Why a download is not what was asked for.
public enum DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Fewer bytes came than were announced.
    case incomplete(received: Int64, expected: Int64)
    /// More bytes came than were announced.
    case tooLong(expected: Int64)
    /// The file has more bytes than the caller takes.
    case tooLarge(limit: Int64)
    /// The server did not continue where the attempt before broke off, so that the download begins anew.
    case notContinued(status: Int)
    /// The server has sent a part of the file, and was not asked for one.
    case unexpectedPart

    /// A description of the failure.
    public var description: String {
        switch self {
        case .incomplete(let received, let expected): "Only \(received) of \(expected) bytes came."
        case .tooLong(let expected): "More than the \(expected) bytes came that were announced."
        case .tooLarge(let limit): "The file has more than \(limit) bytes, the most that is taken."
        case .notContinued(let status): "The server answered \(status) to a request for the rest of the file."
        case .unexpectedPart: "The server sent a part of the file, and was asked for all of it."
        }
    }
}
