import Nautilus
import NautilusStreams
import NautilusTesting
import NotesAPI

/// A socket of texts.
struct Chat: StreamRequest {
    typealias Message = String
    typealias Result = String
    var route: HttpRoute { ["chat"] }
    // The clock of the tests would have to know of it.
    var timeout: Duration? { nil }
}

struct ChatService: HttpService {
    let apiUrl: any UrlConvertible
    let retrierFactory: any RetrierFactory
    let clock: any Clock<Duration>
    var webSocketTransport: any WebSocketTransport { SocketsUnderTest.shared }

    init(_ url: String, retrierFactory: any RetrierFactory = Self.backoff(), clock: any Clock<Duration> = ManualClock())
    {
        (self.apiUrl, self.retrierFactory, self.clock) = (url, retrierFactory, clock)
    }

    static func backoff(_ delay: Duration = .zero) -> any RetrierFactory {
        // The budget of the process is for all tests together.
        BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(delay, jitter: .none)
                $0.maxAttempts = 3
                $0.budget = .unlimited
            }
        )
    }
}

extension Token {
    static func numbered(_ number: Int) -> Token {
        Token(accessToken: "token-\(number)", refreshToken: "", lifetime: nil, environment: .staging)
    }
}
