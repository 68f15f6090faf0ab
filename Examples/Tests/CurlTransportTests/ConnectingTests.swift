import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("Failures to connect", .timeLimit(.minutes(10)), .whereAvailable)
struct ConnectingTests {
    @Test("cancelled during a TLS handshake, a call has sent nothing; cancelled after the request, it may have")
    func cancelled() async throws {
        for scheme in ["https", "http"] {
            let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)
            try await ScriptedServer.run { connection in
                // The first bytes of a handshake, or of a request.
                _ = try await connection.read(5)
                arrive.finish()
                try await connection.hang()
            } whileOpen: { server in
                let url = server.url(scheme: scheme, host: "127.0.0.1").absoluteString
                let service = AnyHttpService(apiUrl: url, transport: TransportUnderTest.make())
                let call = Task { try await Probe(method: .post).schedule(with: service) }
                for await _ in arrivals {}
                call.cancel()
                let error = await #expect(throws: HttpError.self) { try await call.value }
                #expect(error?.kind == .cancelled)
                #expect(error?.delivery == (scheme == "https" ? .notSent : .maybeExecuted))
                #expect(error?.trace.exchanges.map(\.delivery) == [scheme == "https" ? .notSent : .maybeExecuted])
            }
        }
    }

    @Test("F15: a server on this machine that does not answer the TLS handshake is asked once, and the error says so")
    func silentTls() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.read(5)
            try await connection.hang()
        } whileOpen: { server in
            let service = AnyHttpService(
                apiUrl: "127.0.0.1:\(server.port)",
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.backoff = .constant(.zero) }),
                transport: CurlTransport(configuration: .init(connectTimeout: .seconds(1)))
            )
            let error = await #expect(throws: HttpError.self) { try await Probe().schedule(with: service) }
            #expect(error?.kind == .transport(.timedOut))
            #expect(error?.delivery == .notSent)
            #expect(error?.trace.attempts.count == 1)
            #expect(error?.description.contains("TLS did not answer") == true)
            #expect(error?.description.contains("begin the base URL with http://") == true)
            #expect(await server.connectionCount == 1)
        }
    }

    @Test("an exchange's record says whether its connection is new")
    func records() async throws {
        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        } whileOpen: { server in
            let service = AnyHttpService(apiUrl: server.url.absoluteString, transport: TransportUnderTest.make())
            var connections: [CallTrace.Exchange.Connection] = []
            for _ in 0..<3 {
                connections += try await Probe().response(with: service).trace.exchanges.compactMap(\.connection)
            }
            #expect(connections.map(\.isReused) == [false, true, true])
            let first = try #require(connections.first)
            #expect(first.connect > .zero && first.secure == .zero)
        }
    }

    @Test(
        "the trace tells how long each step of connecting has taken, TLS included",
        .enabled(if: PythonTlsServer.isAvailable, "needs Python and openssl")
    )
    func steps() async throws {
        try await PythonTlsServer.run { server in
            let configuration = CurlTransport.Configuration(
                connectTimeout: .seconds(120),
                trust: .init(roots: server.certificate),
                addresses: ["127.0.0.1": ["127.0.0.1"]]
            )
            let service = AnyHttpService(
                apiUrl: server.url.absoluteString,
                transport: CurlTransport(configuration: configuration)
            )
            let stopwatch = ContinuousClock.now
            let trace = try await Probe().response(with: service).trace
            let connection = try #require(trace.exchanges.first?.connection)
            #expect(!connection.isReused)
            #expect(connection.connect > .zero && connection.secure > .zero)
            #expect(connection.nameLookup + connection.connect + connection.secure < stopwatch.duration(to: .now))
        }
    }

    @Test("the latency of an exchange ends with the final header, not with an interim response")
    func interim() async throws {
        let pause = Duration.milliseconds(50)
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            try await Task.sleep(for: pause)
            try await connection.respond()
        } whileOpen: { server in
            let service = AnyHttpService(apiUrl: server.url.absoluteString, transport: TransportUnderTest.make())
            let exchange = try #require(try await Probe().response(with: service).trace.exchanges.first)
            #expect(exchange.status == 200)
            #expect(try #require(exchange.latency) >= pause)
        }
    }
}
