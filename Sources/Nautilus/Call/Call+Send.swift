import Foundation

extension Call {
    /// Stages 3 to 5, which call interceptors wrap: the attempt's request, through the network tier.
    func exchange(_ request: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpResponse<Data> {
        // Where the attempt goes, by which a gate holds back the next one.
        lastBuilt = request
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        var path = path(as: .main, telling: ongoing)
        path.payment = payment.next
        defer { if let due = path.payment { payment.settle(due) } }
        let response: HttpResponse<Data>
        do {
            response = try await path.send(request, context)
        } catch {
            // An interceptor that fails by itself has sent nothing; the book knows what was sent.
            throw failure(error, in: .intercept, delivery: .notSent)
        }
        guard let stream = response.stream else { return response }
        return await beginReading(stream, of: response)
    }

    /// The exchange of a side request, which does not change the attempt.
    ///
    /// Called from any task, so it touches only what never changes in the call.
    func sendAside(
        _ request: HttpRequest,
        _ context: AttemptContext,
        along path: NetworkPath
    ) async throws -> HttpResponse<Data> {
        do {
            return try await path.send(request, context)
        } catch let error as AttemptIsOver {
            throw error
        } catch {
            throw failureAside(error, in: .intercept, delivery: .notSent, of: request, context)
        }
    }

    /// The way of a request of this role through the network tier.
    func path(as role: CallTrace.Exchange.Role, telling ongoing: (any OngoingAttempt)?) -> NetworkPath {
        let tier = bound.tiers.network
        let inner = tier.firstIndex { $0.networkStage.rawValue > NetworkStage.changing.rawValue } ?? tier.endIndex
        var follower = RedirectFollower(transport: transport, accepted: request.acceptedStatusCodes, book: book)
        (follower.sessions, follower.retryAfterField) = (sessions, constants.retryAfterField)
        follower.interceptors = tier[inner...]
        if role == .main { follower.classifier = constants }
        return NetworkPath(
            credentials: bound.credentials,
            sessions: sessions,
            interceptors: tier[..<inner],
            follower: follower,
            check: builder.check,
            clock: clock,
            deadline: deadline,
            ongoing: ongoing,
            role: role
        )
    }
}
