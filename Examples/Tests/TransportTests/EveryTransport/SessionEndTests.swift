import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A request that waits for a connection", .timeLimit(.minutes(10)), .whereAvailable)
struct SessionEndTests {
    private struct Get: Request {
        typealias Result = Data
        let path: String
        var route: HttpRoute { [path] }
    }

    @Test("a request that waits for a connection is not sent once its user has signed out")
    func signedOut() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.run { connection in
            while true {
                let request = try await connection.readRequest()
                if request.path == "/slow" { for await _ in released.prefix(1) {} }
                try await connection.respond()
            }
        } whileOpen: { server in
            let coordinator = RefreshCoordinator(credential: "anna") { $0 }
            let service = AnyHttpService(
                apiUrl: server.url,
                retrierFactory: coordinator.authorization { token, request in request.header["X-Token"] = token },
                transport: TransportUnderTest.make(connectionsPerHost: 1)
            )
            async let slow = Get(path: "slow").schedule(with: service)
            await server.firstConnection()
            async let waiting = failure(of: Get(path: "waiting"), with: service)
            // Long enough to queue, nearly always; else the test proves less, and does not fail.
            try await Task.sleep(for: .milliseconds(100))
            coordinator.signOut()
            coordinator.signIn("bert")
            release.yield()
            _ = try await slow
            let error = await waiting
            #expect(error?.requiresSignIn == true && error?.delivery == .notSent, "\(String(describing: error))")
            _ = try await Get(path: "next").schedule(with: service)
            let requests = await server.requests
            #expect(requests.map(\.path) == ["/slow", "/next"])
        }
    }

    private func failure(of request: Get, with service: AnyHttpService<HttpError>) async -> HttpError? {
        do throws(HttpError) {
            _ = try await request.schedule(with: service)
            return nil
        } catch {
            return error
        }
    }
}
