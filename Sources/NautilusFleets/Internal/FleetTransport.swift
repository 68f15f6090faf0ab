import Foundation
import Nautilus
import NautilusTesting

/// A client's way to the modelled server.
final class FleetTransport: HttpTransport {
    private let server: FleetServer
    private let model: Locked<ServerModel>
    private let clock: ManualClock
    private let random: any RandomSource
    private let recorder: FleetRecorder

    init(
        _ server: FleetServer,
        _ model: Locked<ServerModel>,
        clock: ManualClock,
        random: any RandomSource,
        recorder: FleetRecorder
    ) {
        self.server = server
        self.model = model
        self.clock = clock
        self.random = random
        self.recorder = recorder
    }

    /// Sends a request and waits for the server's answer.
    ///
    /// - Throws: `TransportError`, and `CancellationError` as soon as the caller hangs up.
    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        try Task.checkCancellation()
        recorder.sent(at: clock.now.offset)
        do {
            try await sleep(for: server.hop.draw(from: random))
            let arrival = clock.now.offset
            let work = server.serviceTime.draw(from: random)
            let verdict = model.withLock { $0.arrival(of: request, at: arrival, work: work) }
            let answer = answer(to: request, verdict.outcome)
            try await sleep(for: verdict.time - arrival + server.hop.draw(from: random))
            return try answer.get()
        } catch let error as CancellationError {
            recorder.abandoned(at: clock.now.offset)
            throw error
        }
    }

    private func sleep(for duration: Duration) async throws {
        if duration > .zero { try await clock.sleep(for: duration) }
    }

    private func answer(
        to request: HttpRequest,
        _ outcome: ServerModel.Outcome
    ) -> Result<HttpResponse<Data>, TransportError> {
        switch outcome {
        case .served(let version):
            var response = server.respond(request)
            response.url = request.url
            if let version { response.header[.etag] = "\"\(version)\"" }
            return .success(response)
        case .conflict(let version):
            return .success(response(412, to: request, header: [.etag: "\"\(version)\""]))
        case .failed:
            return .success(response(500, to: request))
        case .refused(let status, let retryAfter):
            recorder.refused(at: clock.now.offset)
            var header = HttpHeader()
            header[.retryAfter] = retryAfter.map(String.init)
            return .success(response(status, to: request, header: header))
        case .lost(let code, let delivery):
            recorder.refused(at: clock.now.offset)
            return .failure(.failed(code, delivery: delivery, reason: "The server is unreachable."))
        }
    }

    private func response(_ status: Int, to request: HttpRequest, header: HttpHeader = [:]) -> HttpResponse<Data> {
        HttpResponse(status: status, header: header, body: Data(), url: request.url)
    }
}
