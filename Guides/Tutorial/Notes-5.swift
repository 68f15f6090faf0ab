import Nautilus

struct GetNote {
    struct Note: Codable, Sendable { let id: Int, title: String }
    let id: Int
}
extension GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", id] }
}

struct Token: Sendable {
    let accessToken: String
    let refreshToken: String
}

struct RefreshToken {
    struct Result: Decodable, Sendable { let accessToken: String, refreshToken: String }
    let refreshToken: String
}
extension RefreshToken: JsonRequest {
    var method: HttpMethod { .post }
    var route: HttpRoute { ["oauth", "token"] }
    var body: HttpBody { .form(["grant_type": "refresh_token", "refresh_token": refreshToken]) }
    var usesSnakeCase: Bool { true }
}

func makeCoordinator() -> RefreshCoordinator<Token> {
    RefreshCoordinator { expired in
        let server = AnyHttpService(apiUrl: "api.example.com")
        let reply = try await RefreshToken(refreshToken: expired.refreshToken).schedule(with: server)
        return Token(accessToken: reply.accessToken, refreshToken: reply.refreshToken)
    }
}

struct NotesService {
    let coordinator: RefreshCoordinator<Token>
}
extension NotesService: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com/v1" }
    var retrierFactory: any RetrierFactory {
        .composed(
            coordinator.authorization { token, request in
                request.header[.authorization] = "Bearer \(token.accessToken)"
            },
            BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
        )
    }
}
