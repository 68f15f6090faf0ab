import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusTraffic

private struct Made: CallInterceptor {
    let work: @Sendable (HttpRequest, CallContext, Next) async throws -> HttpResponse<Data>
    var callTierStage: InterceptorTier.CallStage = .changing
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await work(request, context, next)
    }
}

/// Reads only numbers.
private struct Number: Request, Hashable {
    typealias Result = String
    var method: HttpMethod = .get
    var route: HttpRoute { ["things"] }
    struct No: Error {}
    func decode(_ data: Data) throws -> String {
        guard let number = Int(String(decoding: data, as: UTF8.self)) else { throw No() }
        return "\(number)"
    }
}

@Suite("CallInterceptor: changes and sends", .endsInTime)
struct CallChangeTests {
    @Test("a POST subrequest is not made again since the answer cannot be read", arguments: [HttpMethod.post, .get])
    func postSubrequest(method: HttpMethod) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in .reply(text: "not a number") }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        var job = request
                        job.method = .post
                        job.url = try .reading("https://api.example.com/jobs")
                        let started = try await context.send(job)
                        return HttpResponse(status: started.status, body: started.body)
                    }
                ],
                transport: transport,
                clock: clock
            )
            #expect(text(await Number(method: method).result(with: service)).contains("No()"))
            #expect(transport.count(of: .post, "/jobs") == 1)
        }
    }

    @Test("a GET that is sent as a POST is not made again either")
    func sentAsPost() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in .reply(text: "7") }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        var request = request
                        request.method = .post
                        let answer = try await next(request)
                        return HttpResponse(status: answer.status, body: Data("changed".utf8))
                    }
                ],
                transport: transport,
                clock: clock
            )
            #expect(text(await Number().result(with: service)).contains("No()"))
            #expect(transport.count == 1)
        }
    }

    @Test("each attempt sends a new stream of the body that an interceptor has set")
    func stream() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let bodies = Locked<[String]>([])
            let transport = ScriptedTransport(clock: clock) { request, context in
                var text = ""
                if case .data(let data) = request.body { text = String(decoding: data, as: UTF8.self) }
                bodies.withLock { [text] in $0.append("\(request.header["Content-Encoding"] ?? "-") \(text)") }
                return context.number == 1 ? .status(503) : .reply(text: "ok")
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        var request = request
                        request.body = .stream(HttpBodyStream(Data("ENCODED".utf8)))
                        request.header["Content-Encoding"] = "upper"
                        return try await next(request)
                    }
                ],
                retrierFactory: steadyBackoff(),
                transport: transport,
                clock: clock
            )
            let put = Ping(
                method: .put,
                body: .stream {
                    AsyncStream<Data> {
                        $0.yield(Data("plain".utf8)); $0.finish()
                    }
                }
            )
            #expect(text(await put.result(with: service)) == "ok")
            #expect(bodies.withLock { $0 } == ["upper ENCODED", "upper ENCODED"])
        }
    }

    @Test("a one-shot stream in the place of data is not sent twice")
    func oneShot() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let bodies = Locked<[String]>([])
            let transport = ScriptedTransport(clock: clock) { request, context in
                var text = ""
                if case .stream(let stream) = request.body {
                    for try await chunk in stream { text += String(decoding: chunk, as: UTF8.self) }
                }
                bodies.withLock { [text] in $0.append(text) }
                return context.number == 1 ? .status(503) : .reply(text: "ok")
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        var request = request
                        request.body = .stream(
                            HttpBodyStream(
                                once: AsyncStream<Data> {
                                    $0.yield(Data("ONCE".utf8)); $0.finish()
                                }
                            )
                        )
                        return try await next(request)
                    }
                ],
                retrierFactory: steadyBackoff(),
                transport: transport,
                clock: clock
            )
            let result = await Ping(method: .put, body: .data(Data("plain".utf8))).result(with: service)
            #expect(
                text(result) == "status 503",
                "\(bodies.withLock { $0 }) \(result.error.map { "\($0.trace)" } ?? "")"
            )
        }
    }

    @Test("a body that is kept from other origins is so in each attempt")
    func keptBody() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, context in
                if request.origin?.description.contains("evil") == true {
                    return .reply(text: "body leaked: \(request.body)")
                }
                return context.number == 1
                    ? .status(503) : .status(307, header: ["Location": "https://evil.example.org/x"])
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        var request = request
                        request.allowsBodyAcrossOrigins = false
                        return try await next(request)
                    }
                ],
                retrierFactory: steadyBackoff(),
                transport: transport,
                clock: clock
            )
            let result = await Ping(method: .put, body: .data(Data("plain".utf8))).result(with: service)
            #expect(text(result).contains("redirect"), "\(text(result))")
        }
    }

    @Test("a subrequest in the place of a failed call refunds nothing")
    func subrequestAnswer() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.url.path == "/mirror" ? .reply(text: "mirror") : .status(503)
            }
            let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 1)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Made { request, context, next in
                        do { return try await next(request) } catch {
                            var mirror = request
                            mirror.url = try .reading("https://api.example.com/mirror")
                            return try await context.send(mirror)
                        }
                    }
                ],
                retrierFactory: steadyBackoff(maxAttempts: 2, budget: .shared(budget)),
                transport: transport,
                clock: clock
            )
            let response = try await Ping.get.response(with: service)
            #expect(response.body == "mirror")
            #expect(budget.balance == 9)
        }
    }

    @Test("the trace of an answer in the place of a failure says whose it is, and has the subrequest")
    func inPlaceOfFailure() async throws {
        let transport = ScriptedTransport { request, _ in
            request.url.path == "/mirror" ? .reply(text: "mirror") : .status(503)
        }
        let mirror = try URL.reading("https://api.example.com/mirror")
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [
                Made { request, context, next in
                    do {
                        return try await next(request)
                    } catch {
                        var subrequest = request
                        subrequest.url = mirror
                        return try await context.send(subrequest)
                    }
                }
            ],
            retrierFactory: ScriptedRetrier.factory { asked, _ in asked == 0 ? true : false },
            transport: transport
        )
        let trace = try await Ping.get.response(with: service).trace
        #expect(trace.exchanges.map(\.status) == [503, 503, 200])
        #expect(trace.attempts.last?.source == .interceptor(serverStatus: 503))
    }
}
