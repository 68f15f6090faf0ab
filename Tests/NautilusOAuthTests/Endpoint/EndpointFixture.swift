import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting

/// The common parts of the endpoint's tests.
enum EndpointFixture {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let token = ["access_token": "s3cret-new", "token_type": "Bearer"]
    static let credential = OAuthCredential(accessToken: "s3cret-old", refreshToken: "s3cret-refresh")

    static let server = AuthorizationServer(
        issuer: "https://id.test",
        tokenEndpoint: "https://id.test/token",
        authorizationEndpoint: "https://id.test/authorize",
        deviceAuthorizationEndpoint: "https://id.test/device",
        revocationEndpoint: "https://id.test/revoke"
    )

    /// An endpoint whose backoff is 0.5 s, 1 s, without jitter.
    static func endpoint(
        _ transport: ScriptedTransport,
        server: AuthorizationServer = server,
        client: OAuthClient = OAuthClient(id: "app"),
        rules: OAuthRules = .standard,
        clock: any Clock<Duration> = ManualClock()
    ) -> TokenEndpoint {
        TokenEndpoint(
            server: server,
            client: client,
            rules: rules,
            transport: transport,
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .exponential(jitter: .none)
                    $0.maxAttempts = 3
                    // The default is shared by all tests of the process.
                    $0.budget = .unlimited
                }
            ),
            clock: clock,
            wallClock: { now }
        )
    }

    /// The error of a call that has to fail; nil when it does not.
    static func error<Value, Failure: Error>(of call: () async throws(Failure) -> Value) async -> Failure? {
        do throws(Failure) {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }

    /// Everything that printing `value` can show.
    static func printed(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped].joined(separator: "\n")
    }
}

/// A server whose reply does not end, in chunks of 10 000 bytes, and that counts what is taken of it.
final class EndlessTransport: HttpTransport {
    private let count = Locked(0)
    private let header: HttpHeader

    /// - Parameter header: The reply's header. Default: none.
    init(header: HttpHeader = [:]) { self.header = header }

    /// How many bytes have been read, by the code that buffers them.
    var taken: Int { count.withLock { $0 } }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let response = try await stream(request, context: context)
        return response.replacingBody(try await response.body.collected(limit: .max))
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let body = HttpBodyStream { [count] in
            // A reader without a limit comes to an end as well, of 100 MB.
            let isOver = count.withLock { count in
                count += 10_000
                return count > 100_000_000
            }
            return isOver ? nil : Data(count: 10_000)
        }
        return HttpResponse(status: 200, header: header, body: body, url: request.url)
    }
}

extension RecordedAttempt {
    /// The body as text: a form.
    var form: String { String(decoding: body ?? Data(), as: UTF8.self) }
}

/// Inputs that were not written by hand: sound ones with one to four bytes removed, doubled or replaced.
struct InputFuzzer {
    private let samples: [[UInt8]]
    private var generator: SeededGenerator
    private var count = 0

    init(seed: UInt64, _ samples: [String]) {
        self.samples = samples.map { Array($0.utf8) }
        self.generator = SeededGenerator(seed: seed)
    }

    /// The next input. Gives way now and then: a loop of seconds would keep a thread from all other tests.
    mutating func next() async -> [UInt8] {
        count += 1
        if count.isMultiple(of: 200) { await Task.yield() }
        var bytes = samples.randomElement(using: &generator) ?? []
        for _ in 1...Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0...4, using: &generator) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(bytes[index], at: index)
            case 2: bytes[index] = "\"{}[]:,\\0123456789e-+.%&=#?/ntf".utf8.randomElement(using: &generator) ?? 0
            case 3: bytes.removeSubrange(index...)
            default: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
        }
        return bytes
    }
}
