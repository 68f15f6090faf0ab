import Nautilus
import NautilusOAuth
import NotesAPI

extension NotesAccount {
    /// Makes a call, and sees to it that the credential is saved before the process ends.
    ///
    /// On Ctrl-C the call is given up, but a refresh that has begun is not: the server may have spent the refresh token
    /// already, and what it has issued in its place would end with the process.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - isVerbose: Whether to show the call's timeline.
    ///   - show: Shows the result.
    /// - Throws: ``Complaint``, or an exit code when the complaint has been told already.
    func call<R: Request>(
        _ request: R,
        isVerbose: Bool,
        show: (R.Result) -> Void
    ) async throws {
        let call = Task { await outcome(of: request) }
        let interruption = Interruption { call.cancel() }
        defer { interruption.end() }
        switch await call.value {
        case .success(let response):
            if isVerbose { Output.error("\(response.trace)") }
            show(response.body)
            try await flush()
        case .failure(let error):
            // At once: what follows may take a while.
            let complaint = complaint(error)
            complaint.tell(isVerbose: isVerbose)
            do throws(Complaint) { try await flush() } catch { error.tell() }
            throw complaint.status.code
        }
    }

    private func outcome<R: Request>(of request: R) async -> Result<HttpResponse<R.Result>, NotesError> {
        do throws(NotesError) {
            return .success(try await request.response(with: service))
        } catch {
            return .failure(error)
        }
    }

    private func flush() async throws(Complaint) {
        do throws(SessionError) {
            try await session.flush()
        } catch {
            throw complaint(error)
        }
    }
}
