import Foundation

/// The path of a call after its hook, from a request to its decoded result or its last real failure.
///
/// This file is the path and how it begins; each stage lives in a file of its own beside it. A call belongs to one task:
/// neither it nor the retrier in it is ever shared. It is a reference, since copies on the way from stage to stage would
/// cost more than the stages do.
final class Call<R: Request, S: HttpService> {
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
    // Generic ones last: what stands after them has no fixed place in memory.
    let request: R
    let service: S

    init(
        _ request: R,
        _ service: S,
        _ clock: any Clock<Duration>,
        _ deadline: Duration?,
        _ stopwatch: Stopwatch
    ) {
        let factory = service.retrierFactory
        let retrier = factory.create(for: request)
        self.clock = clock
        self.deadline = deadline
        self.hedging = service.hedging
        self.layer = type(of: retrier) == NilRetrier.self ? nil : RetryLayer(factory, request: R.self)
        self.retrier = retrier
        self.recorder = TraceRecorder(R.self, stopwatch: stopwatch, observer: service.observer)
        self.request = request
        self.service = service
        if let outer = RetryLayer.current, let note = outer.note(of: factory) { recorder.note(note) }
    }

    /// Attempts, one after the other, until one succeeds or a failure surfaces.
    func run() async throws(HttpError) -> HttpResponse<R.Result> {
        while true {
            do throws(HttpError) {
                var response = if let layer { try await attempt(in: layer) } else { try await attempt() }
                noteSuccess()
                response.trace = recorder.succeeded(response.status)
                return response
            } catch {
                let delay = try await delay(after: error)
                try await sleep(for: delay, after: error)
            }
        }
    }

    /// One pass along the path, marked as such.
    private func attempt(in layer: RetryLayer) async throws(HttpError) -> HttpResponse<R.Result> {
        try await RetryLayer.$current.withValue(layer) {
            await Result { () async throws(HttpError) in try await attempt() }
        }.get()
    }

    /// One pass along the path.
    private func attempt() async throws(HttpError) -> HttpResponse<R.Result> {
        let (built, context) = try await build()  // 1
        let interceptors = service.interceptors
        let response =
            if interceptors.isEmpty {
                try await exchange(built, context)
            } else {
                try await intercept(built, context, by: interceptors)  // 2, around 3 to 5
            }
        try validate(response)  // 6
        // 7
        if request.streamsResponse { return try await decodeStream(of: response) }
        return try decode(response)
    }

    /// What the interceptors wrap.
    func exchange(_ request: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpResponse<Data> {
        let prepared = try await prepare(request, context)  // 3
        // 4 and 5
        if let hedging, !context.streamsResponse { return try await send(prepared, context, by: hedging) }
        return try await send(prepared, context)
    }
}
