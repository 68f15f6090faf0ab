import Foundation
import Nautilus

extension TransportConformance {
    /// An exchange leaves nothing behind for the next one.
    var stateChecks: [Check] {
        [
            Check("a cookie that the server sets is not sent back") {
                let transport = makeTransport()
                _ = try await send("/cookie", through: transport)
                let echo = try await send("/echo", through: transport)
                try expect(echo.header["Echo-Cookie"], is: nil, "the Cookie of the next request")
            },
            Check("a response that may be cached is asked for again") {
                let transport = makeTransport()
                let path = cachedPath()
                let first = try await count(of: path, through: transport)
                try expect(try await count(of: path, through: transport), is: first + 1, "the server's count")
            },
            Check("concurrent exchanges get their own answers") {
                let transport = makeTransport()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask { try await expectOwnAnswer(number, through: transport) }
                    }
                    try await group.waitForAll()
                }
            },
            Check("a transport works on after a failure") {
                let transport = makeTransport()
                _ = try await expectTransportError("/drop") { try await send("/drop", through: transport) }
                try expect(try await send("/status/200", through: transport).status, is: 200, "the next status")
            },
        ]
    }

    private func expectOwnAnswer(_ number: Int, through transport: any HttpTransport) async throws {
        let body = Data("body \(number)".utf8)
        let header: HttpHeader = ["X-Number": "\(number)"]
        let target = "/echo?number=\(number)"
        let response = try await send(target, method: .post, header: header, body: body, through: transport)
        try expect(response.header["Echo-X-Number"], is: "\(number)", "the header of exchange \(number)")
        try expect(response.header["Echo-Target"], is: target, "the target of exchange \(number)")
        try expect(response.body, is: body, "the body of exchange \(number)")
    }
}
