import Foundation
import Nautilus
import NautilusCurl

// Exits in the middle of its calls over TLS, on all threads: its arguments are the server's URL, a file with its root,
// and after how many answers it exits.

let roots = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2]))
let configuration = CurlTransport.Configuration(connectionsPerHost: 64, route: .direct, trust: .init(roots: roots))
let service = AnyHttpService<HttpError>(
    apiUrl: CommandLine.arguments[1],
    retrierFactory: .never,
    transport: CurlTransport(configuration: configuration)
)
let (answers, answer) = AsyncStream.makeStream(of: Void.self)
for _ in 0..<32 {
    Task.detached {
        while true {
            do {
                _ = try await AnyRequest(.get, ["page"], as: String.self).schedule(with: service)
            } catch {
                print(error)
                exit(1)
            }
            answer.yield()
        }
    }
}
for await _ in answers.prefix(Int(CommandLine.arguments[3]) ?? 0) {}
exit(0)
