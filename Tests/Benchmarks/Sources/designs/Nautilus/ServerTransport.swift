import Foundation
import Nautilus

/// The way from Nautilus to the server: requests become the two questions that it answers.
struct ServerTransport: HttpTransport {
    let server: Server

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        do {
            return HttpResponse(status: 200, body: try await answer(to: request), url: request.url)
        } catch let rejection as Rejection {
            return HttpResponse(status: rejection.status, body: Data(), url: request.url)
        }
    }

    private func answer(to request: HttpRequest) async throws -> Data {
        if let call = Int(request.url.lastPathComponent) {
            try await server.get(call, accessToken: accessToken(of: request))
            return Data()
        }
        let token = try await server.refresh(refreshToken(of: request))
        return try JSONEncoder().encode(
            RefreshToken.Result(
                accessToken: token.accessToken,
                refreshToken: token.refreshToken,
                expiresIn: token.expiry.map { _ in 3600 }
            )
        )
    }

    private func accessToken(of request: HttpRequest) -> String? {
        request.header[.authorization].flatMap { $0.split(separator: " ").last.map(String.init) }
    }

    private func refreshToken(of request: HttpRequest) -> String {
        guard case .data(let form) = request.body else { return "" }
        return String(decoding: form, as: UTF8.self).split(separator: "refresh_token=").last.map(String.init) ?? ""
    }
}
