import Foundation
import Nautilus

extension Request {
    /// Calls the service, and writes the response's body to a file as it arrives: to a hidden file beside `target`,
    /// which replaces `target` once it is complete. If the call fails or is cancelled, the target stays as it was. The
    /// same is true after a 304, if the request accepts it: check the response's status. A 204 makes an empty file.
    ///
    /// The guide `DownloadsAndEvents` says what the next attempt does after a failure in the middle of the body. When
    /// the session in which the download began is over, it ends at once.
    /// - Parameters:
    ///   - target: The URL of the file to write. Its folder has to exist.
    ///   - service: The service.
    ///   - limit: The largest size of the file, in bytes. Default: nil, since only you know how large it may be.
    ///   - progress: Called after each chunk, in the call's task; from 0 again if the download begins anew.
    /// - Returns: The response, with `target` as its body.
    /// - Throws: The service's own error. Underneath may be an `HttpBodyStream.FileError`, for a full disk for example, or a
    ///   ``DownloadError``, if something other than announced has come, or more than `limit`. These are not retried.
    @discardableResult
    public func download<S: HttpService>(
        to target: URL,
        with service: S,
        limit: Int64? = nil,
        progress: (@Sendable (HttpProgress) -> Void)? = nil
    ) async throws(S.RequestError) -> HttpResponse<URL> {
        let partial = PartialDownload(to: target, limit: limit, progress: progress)
        defer { partial.discard() }
        let configuration = service.configuration.derived(from: self) { partial.beginsAnew(after: $0) }
        let service = BoundService(configuration, mappingErrorsAs: service)
        let response = try await Download(base: self, partial: partial).response(with: service)
        return response.replacingBody(target)
    }
}

/// A request whose body goes to a file. Traces and observers show the base request's name.
private struct Download<Base: Request>: ForwardingRequest {
    typealias Result = Void

    let base: Base
    let partial: PartialDownload

    var forwarded: any Request { base }
    var streamsResponse: Bool { true }
    var header: HttpHeader { base.header.merging(rangeHeader) }
    var acceptedStatusCodes: HttpStatusCodes {
        rangeHeader.isEmpty ? base.acceptedStatusCodes : [base.acceptedStatusCodes, 206, 416]
    }

    /// Empty except for GET, since only GET has ranges (RFC 9110 §14.2).
    private var rangeHeader: HttpHeader { base.method == .get ? partial.rangeHeader : [:] }

    func decode(_ response: HttpResponse<HttpBodyStream>) async throws {
        let isRest = !rangeHeader.isEmpty
        do {
            try await partial.receive(response, isRest: isRest)
        } catch {
            // If the user left at the very moment when the file was done, the file stays.
            if !partial.isWhole { throw error }
        }
    }
}

/// Why a download did not bring what was asked for.
public enum DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Fewer bytes came than were announced.
    case incomplete(received: Int64, expected: Int64)
    /// More bytes came than were announced.
    case tooLong(expected: Int64)
    /// The file has more bytes than the caller accepts.
    case tooLarge(limit: Int64)
    /// The server did not continue where the previous attempt broke off, so the download begins anew.
    case notContinued(status: Int)
    /// The server has sent a part of the file without being asked for one.
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
