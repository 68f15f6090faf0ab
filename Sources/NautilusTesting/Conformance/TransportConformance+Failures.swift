import Foundation
import Nautilus

extension TransportConformance {
    /// Checks that an exchange which fails or is cancelled ends, and says how.
    var failureChecks: [Check] {
        [
            Check("a connection that is closed without an answer is a transport error, maybe executed") {
                try await expectMaybeExecuted("/drop", method: .post)
            },
            Check("a body that ends early is a transport error, maybe executed") {
                try await expectMaybeExecuted("/truncated", method: .get)
            },
            Check("nobody listening is a transport error, not sent") {
                let request = HttpRequest(method: .post, url: try unusedPort())
                let error = try await expectTransportError("a port where nobody listens") {
                    try await makeTransport().send(request, context: context())
                }
                try expect(error.delivery, is: .notSent, "the delivery")
            },
            Check("cancelling ends an exchange that would never end") {
                let transport = makeTransport()
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    begin.finish()
                    return try await send("/hang", through: transport)
                }
                for await _ in begun {}
                task.cancel()
                try await expectCancellation(of: task, "a cancelled exchange")
                try expect(try await send("/status/200", through: transport).status, is: 200, "the next status")
            },
            Check("a task that is already cancelled sends nothing") {
                let transport = makeTransport()
                let path = cachedPath()
                let before = try await count(of: path, through: transport)
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await send(path, through: transport)
                }
                try await expectCancellation(of: task, "an exchange of a cancelled task")
                try expect(try await count(of: path, through: transport), is: before + 1, "the server's count")
            },
        ]
    }

    private func expectMaybeExecuted(_ path: String, method: HttpMethod) async throws {
        let error = try await expectTransportError(path) { try await send(path, method: method) }
        try expect(error.delivery, is: .maybeExecuted, "the delivery of \(path)")
    }

    /// The origin's host at port 1, where no server of this world listens.
    private func unusedPort() throws -> URL {
        var components = URLComponents(url: origin, resolvingAgainstBaseURL: true)
        components?.port = 1
        guard let url = components?.url else { throw Failure(description: "The origin cannot be used.") }
        return url
    }
}

extension TransportError {
    /// The error's delivery: what the server may have done.
    var delivery: Delivery {
        switch self {
        case .failed(_, let delivery, _): delivery
        case .responseTooLarge: .maybeExecuted
        }
    }
}
