import Foundation

/// The path of a call after its hook, from a request to its decoded result or its last real failure.
///
/// This file is the path and nothing else; each stage lives in a file of its own beside it. The value belongs to one
/// task: the retrier in it is never shared.
struct Call<R: Request, S: HttpService> {
    let request: R
    let service: S
    let clock: any Clock<Duration>
    /// How long it may take: the request's own limit, or what the call around it has left; nil for no limit.
    let deadline: Duration?
    /// When a slow attempt is sent a second time; nil for never.
    let hedging: Hedging?
    /// What marks the attempts, for calls that are made within them; nil when there are no retries.
    let layer: RetryLayer?
    var retrier: any Retrier
    var builder = RequestBuilder()
    var recorder: TraceRecorder

    /// Attempts, one after the other, until one succeeds or a failure surfaces.
    mutating func run() async throws(HttpError) -> HttpResponse<R.Result> {
        while true {
            do throws(HttpError) {
                let response = try await attempt()
                noteSuccess()
                return recorder.succeeded(response)
            } catch {
                let delay = try await delay(after: error)
                try await sleep(for: delay, after: error)
            }
        }
    }

    /// One pass along the path, marked as such.
    private mutating func attempt() async throws(HttpError) -> HttpResponse<R.Result> {
        guard let layer else { return try await pass() }
        return try await RetryLayer.$current.withValue(layer) {
            await Result { () async throws(HttpError) in try await pass() }
        }.get()
    }

    /// One pass along the path.
    private mutating func pass() async throws(HttpError) -> HttpResponse<R.Result> {
        let (built, context) = try await build()  // 1
        let response = try await intercept(built, context)  // 2, around 3 to 5
        try validate(response)  // 6
        return try await decode(response)  // 7
    }

    /// What the interceptors wrap.
    mutating func exchange(
        _ request: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> HttpResponse<Data> {
        let prepared = try await prepare(request, context)  // 3
        return try await send(prepared, context)  // 4 and 5
    }
}
