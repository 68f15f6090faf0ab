import Foundation

extension Call {
    /// Stage 2: the service's interceptors, the first outermost, around the exchange.
    func intercept(
        _ request: HttpRequest,
        _ context: AttemptContext,
        by interceptors: [any HttpInterceptor]
    ) async throws(HttpError) -> HttpResponse<Data> {
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        let context = interceptors.contains { $0 is HttpCache } ? context.callingAgain(callAgain) : context
        do {
            return try await Self.proceed(with: request, context, through: interceptors[...]) { request in
                try await self.exchange(request, context)
            }
        } catch {
            throw failure(error, in: .intercept)
        }
    }

    private static func proceed(
        with request: HttpRequest,
        _ context: AttemptContext,
        through interceptors: ArraySlice<any HttpInterceptor>,
        _ exchange: HttpInterceptor.Next
    ) async throws -> HttpResponse<Data> {
        guard let outermost = interceptors.first else { return try await exchange(request) }
        return try await outermost.intercept(request, context: context) { request in
            try await proceed(with: request, context, through: interceptors.dropFirst(), exchange)
        }
    }

    /// Stage 3: the retrier's last look before the wire.
    func prepare(_ built: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpRequest {
        var request = built
        do {
            try await retrier.prepare(&request, context: context)
            try builder.finish(&request)
        } catch {
            if recorder.request == nil { recorder.willSend(built, serviceOrigin: context.serviceOrigin) }
            throw failure(error, in: .prepare, delivery: .notSent)
        }
        CredentialWatch.current?.note(request)
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        return request
    }
}
