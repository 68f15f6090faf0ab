import ChildProcesses
import Foundation
import Nautilus
import NautilusCurl
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("A printed curl command, run by bash and curl", .timeLimit(.minutes(10)))
struct CurlReplayTests {
    private static let bash = URL(fileURLWithPath: "/bin/bash")
    // Where Debian, macOS and Homebrew install it.
    private static let hasCurl = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains { folder in
        FileManager.default.isExecutableFile(atPath: folder + "/curl")
    }

    @Test(
        "F1: the commands of 500 random requests send the same method, target, fields and bytes as the calls",
        .enabled(if: hasCurl && FileManager.default.isExecutableFile(atPath: bash.path)),
        arguments: [1]
    )
    func replay(seed: UInt64) async throws {
        // Its shell starts hundreds of processes.
        try await ProcessTurn.shared.run { try await compare(count: 500, seed: seed) }
    }

    private func compare(count: Int, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let requests = (0..<count).map { _ in RandomRequest(from: &random) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        try await ScriptedServer.run { connection in
            while true {
                _ = try await connection.readRequest()
                try await connection.respond()
            }
        } whileOpen: { server in
            let service = AnyHttpService<HttpError>(apiUrl: "\(server.url)/base", retrierFactory: .never)
            var script = "export HOME=\"$PWD\" no_proxy='*'\n"
            for (index, request) in requests.enumerated() {
                try await request.schedule(with: service)
                let command = try await request.curlCommand(with: service, showsSecrets: true)
                script += "{\n\(command)\n} >/dev/null 2>>errors || echo 'failed: \(index)'\n"
            }
            let file = folder.appendingPathComponent("commands.sh")
            try Data(script.utf8).write(to: file)
            let ending = try await ChildProcess(Self.bash, [file.path], folder: folder).ending()
            #expect(ending.output == "" && ending.errors == "" && ending.code == 0)

            let recorded = await server.requests
            try #require(recorded.count == 2 * count)
            for index in 0..<count {
                let (call, command) = (recorded[index], recorded[count + index])
                #expect(call.requestLine == command.requestLine, "request \(index) of seed \(seed)")
                #expect(call.body == command.body, "the body of request \(index) of seed \(seed)")
                let fields = Self.lines(call, of: requests[index])
                #expect(fields == Self.lines(command, of: requests[index]), "request \(index) of seed \(seed)")
            }
        }
    }

    /// The lines of the header, sorted by name; several of one name in their order. `Accept-Encoding` is what a
    /// transport can decode, unless the request has it.
    private static func lines(_ recorded: RecordedRequest, of request: RandomRequest) -> [String] {
        let fields = recorded.fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { $0.name != "accept-encoding" || request.header["Accept-Encoding"] != nil }
        let names = Set(fields.map(\.name)).sorted()
        return names.flatMap { name in
            fields.filter { $0.name == name }.map { "\(name): \($0.value.trimmingCharacters(in: .whitespaces))" }
        }
    }
}

/// A request of what a shell, or curl, might take for something else.
private struct RandomRequest: Request {
    typealias Result = Void

    let method: HttpMethod
    let route: HttpRoute
    let query: HttpQuery
    let header: HttpHeader
    let body: HttpBody

    private static let methods: [HttpMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, .query, "PROPFIND", "post", "M-SEARCH", "x'y",
        "a|b`c`$d&!~",
    ]
    private static let pieces = [
        "@", "@/etc/hostname", "'", "\"", "$HOME", "$(id)", "`id`", "\\", "!", "!!", "\n", "\r\n", "\r", "\t", "\u{0}",
        "ü", "日本", "🐚", "'\u{301}", "%s", "%00", "-", "--", "{a,b}", "[1-3]", ";", "&&", "#", " ", "*", "~", "\u{FEFF}",
        "<", ">", "=", "?", "a", "b c", "{\"name\":\"it's\"}", "\u{1B}[0m", "\u{7F}",
    ]
    private static let names: [HttpHeader.Name] = [
        "X-A", "x-a", "X-B", "X-!#$%&'*+.^_`|~", "Accept", "Accept-Encoding", "Authorization", "Cookie", "cookie",
        "Content-Type", "Content-Language", "User-Agent", "Range", "If-None-Match", "Idempotency-Key", "Referer", "-x",
    ]

    init(from random: inout SeededGenerator) {
        method = Self.methods.randomElement(using: &random) ?? .get
        route = HttpRoute((0..<Int.random(in: 0...3, using: &random)).map { _ in "p" + Self.text(upTo: 2, &random) })
        var query: HttpQuery = [:]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let name = Self.text(upTo: 2, &random)
            query.add(Self.text(upTo: 3, &random), to: name)
        }
        self.query = query
        var header: HttpHeader = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            guard let name = Self.names.randomElement(using: &random) else { continue }
            header.add(Self.value(&random), to: name)
        }
        self.header = header
        body = method == .get || method == .head ? .empty : Self.body(&random)
    }

    private static func text(upTo count: Int, _ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    /// The value of a field: empty, blank, or without control characters.
    private static func value(_ random: inout SeededGenerator) -> String {
        let odd = ["", " ", "\t", " a ", ";"]
        if Int.random(in: 0..<5, using: &random) == 0 { return odd.randomElement(using: &random) ?? "" }
        let scalars = text(upTo: 4, &random).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func body(_ random: inout SeededGenerator) -> HttpBody {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .empty
        case 1: return .data(Data())
        case 2: return .data(Data((0..<Int.random(in: 1...300, using: &random)).map { _ in random.next() as UInt8 }))
        case 3:
            let sizes = [1_023, 1_025, 99_999, 150_000]
            return .data(Data(repeating: 0x61, count: sizes.randomElement(using: &random) ?? 1))
        case 4: return .form(["a": text(upTo: 3, &random)])
        case 5: return .json([text(upTo: 3, &random)])
        default: return .data(Data(text(upTo: 6, &random).utf8), contentType: "text/plain; charset=utf-8")
        }
    }
}
