import Foundation
import Nautilus
import NautilusPages
import NautilusSessions
import NautilusStreams
import NautilusTesting

/// Requests that continue one another: each page, each connection of a feed and of a web socket says whose the one before
/// was.
extension StoreStorm {
    private struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        let id: String
        var route: HttpRoute { ["chats", id] }
    }

    /// Web sockets of a server that takes any number.
    private struct Sockets: WebSocketTransport {
        let serve: @Sendable (HttpRequest) -> ScriptedWebSocketTransport.Opening

        func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            try await ScriptedWebSocketTransport(serve(request)).open(request, context: context)
        }
    }

    func serveSequences() {
        world.server.transport
            .on(.get, "/lists/*") { request, _ in
                guard let user = user(of: request) else { return .status(401) }
                let (previous, number) = continued(request.url.query(percentEncoded: false)?.split(separator: "=").last)
                check(request, as: user, after: previous)
                let next = number < 4 ? "\(user):\(number + 1)" : nil
                return .delay(.milliseconds(10), then: .json(ItemPage(items: ["\(number)"], next: next)))
            }
            .on(.get, "/feeds/*") { request, _ in
                guard let user = user(of: request) else { return .status(401) }
                let (previous, number) = continued(request.header["Last-Event-ID"].map { $0[...] })
                check(request, as: user, after: previous)
                if number == 4 { return .status(204) }
                let lost = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
                let event = Data("id: \(user):\(number + 1)\ndata: \(user)\n\n".utf8)
                return .chunks(
                    header: [.contentType: "text/event-stream"],
                    [event],
                    endingWith: world.random.nextFraction() < 0.5 ? lost : nil
                )
            }
    }

    /// The user whose token a request carries; nil when the server takes it no more.
    private func user(of request: HttpRequest) -> String? {
        let token = request.header["X-Api-Token"] ?? ""
        let user = String(token.prefix { $0 != "-" })
        note(request.url.lastPathComponent, as: user)
        return world.server.accepts(token) ? user : nil
    }

    private func continued(_ text: Substring?) -> (user: String?, number: Int) {
        let parts = (text ?? "").split(separator: ":")
        guard parts.count == 2, let number = Int(parts[1]) else { return (nil, 0) }
        return (String(parts[0]), number)
    }

    private func check(_ request: HttpRequest, as user: String, after previous: String?) {
        guard let previous, previous != user else { return }
        complain("\(request.url.path()) as \(user) goes on from where \(previous) was")
    }

    private func serveChat(_ request: HttpRequest) -> ScriptedWebSocketTransport.Opening {
        guard let user = user(of: request) else { return .decline(401) }
        let process = Int(request.url.lastPathComponent.prefix(1)) ?? 0
        return .accept { socket in
            let isServed = Locked(true)
            sockets.withLock { $0.append((process, user, isServed)) }
            defer { isServed.withLock { $0 = false } }
            let count = Int(world.random.nextFraction() * 4)
            for _ in 0..<count { try await socket.send(socket.receive()) }
            if world.random.nextFraction() < 0.7 { return socket.drop() }
            while true { try await socket.send(socket.receive()) }
        }
    }

    /// Reads a sequence, with pauses in which users change.
    func sequence(_ process: Session<ApiToken>, _ id: String) async {
        try? await world.sleep(.seconds(900) * world.random.nextFraction())
        let service = world.api.with {
            $0.retrierFactory = process.retrierFactory(
                .standard.with {
                    $0.backoff = .constant(.seconds(1))
                    $0.budget = .unlimited
                    $0.random = world.random
                }
            )
            $0.webSocketTransport = Sockets(serve: serveChat)
        }
        let kind = world.random.nextFraction()
        let work = BackgroundTask.start {
            do {
                switch kind {
                case ..<0.3:
                    for try await _ in ListItems(id: id).items(with: service) { try await pause() }
                case ..<0.6:
                    for try await _ in Feed(id: id).events(with: service) { try await pause() }
                default:
                    try await talk(Chat(id: id).schedule(with: service))
                }
            } catch {
                // A user has left, the store is in trouble, or the server has had enough.
            }
        }
        if world.random.nextFraction() < 0.2 {
            try? await world.sleep(.seconds(60) * world.random.nextFraction())
            work.cancel()
        }
        await work.value
    }

    private func talk(_ chat: MessageStream<Chat, HttpError>) async throws {
        // A connection that breaks off takes echoes with it: so none is waited for.
        let reader = BackgroundTask.start {
            do { for try await _ in chat {} } catch {}
        }
        for number in 0..<5 {
            guard (try? await chat.send("\(number)")) != nil, (try? await pause()) != nil else { break }
        }
        await chat.close()
        await reader.value
    }

    private func pause() async throws { try await world.sleep(.seconds(120) * world.random.nextFraction()) }
}
