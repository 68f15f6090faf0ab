import Foundation
import Nautilus

extension TransportConformance {
    /// Checks of answers whose header arrives and whose body fails.
    var brokenBodyChecks: [Check] {
        [
            Check("an error status is not lost to a body that ends early, or is not coded as its header says") {
                for status in [401, 404, 429, 500, 503] {
                    for path in ["cut", "miscoded", "transfer-coded"] {
                        let error = await error(of: Probe(route: ["\(path)", "\(status)"]))
                        try expect(error?.kind, is: .status(status), "the failure of /\(path)/\(status)")
                    }
                }
            },
            Check("a success with a body that ends early is an error of the body, with the status in it") {
                let error = await error(of: Probe(route: ["cut", "200"]))
                guard case .transport? = error?.kind else {
                    let found = error.map { "\($0.kind)" } ?? "a success"
                    throw Failure(description: "Expected /cut/200 to fail, found \(found).")
                }
                try expect(error?.status, is: 200, "the status in the error of /cut/200")
            },
            Check("an error status is not lost to a broken body if the request's body is a stream") {
                for path in ["cut", "miscoded"] {
                    let body = HttpBody.stream(from: {
                        AsyncStream<Data> { chunks in
                            chunks.yield(Data("abc".utf8))
                            chunks.finish()
                        }
                    })
                    let error = await error(of: Probe(method: .put, route: ["\(path)", "503"], body: body))
                    try expect(error?.kind, is: .status(503), "the failure of a streamed PUT of /\(path)/503")
                }
            },
            Check("bytes with a transfer coding that is not undone are never a body") {
                guard let body = try? await send("/transfer-coded/200").body else { return }
                try expect(String(decoding: body, as: UTF8.self), is: "hello", "the body of /transfer-coded/200")
            },
            Check("a streamed response brings its status, though its body is broken") {
                for path in ["cut", "miscoded"] {
                    let response = try await makeTransport().stream(try request("/\(path)/503"), context: context())
                    try expect(response.status, is: 503, "the status of /\(path)/503, streamed")
                }
            },
        ]
    }

    /// The error of a whole call; nil if it succeeds.
    private func error(of request: Probe) async -> HttpError? {
        do throws(HttpError) {
            try await request.schedule(with: AnyHttpService(apiUrl: origin, transport: makeTransport()))
            return nil
        } catch {
            return error
        }
    }
}

/// A request without a result.
private struct Probe: Request {
    typealias Result = Void
    var method = HttpMethod.get
    var route: HttpRoute
    var body = HttpBody.empty
}
