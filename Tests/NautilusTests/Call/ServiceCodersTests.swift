import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("The coders of a service")
struct ServiceCodersTests {
    struct Meeting: Codable, Hashable, Sendable {
        var firstRoom: String
        var startsAt: Date
    }

    struct GetMeeting: JsonRequest {
        typealias Result = Meeting
        var route: HttpRoute { ["meetings"] }
    }

    struct AddMeeting: JsonRequest {
        typealias Result = Meeting
        let meeting: Meeting
        var method: HttpMethod { .post }
        var route: HttpRoute { ["meetings"] }
        var body: HttpBody { .json(meeting) }
    }

    struct ByHand: Request {
        typealias Result = Meeting
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> Meeting {
            try JsonCoders.current.decoder().decode(Meeting.self, from: data)
        }
    }

    struct OwnCoders: JsonRequest {
        typealias Result = [String: Date]
        var route: HttpRoute { [] }
        var decoder: JSONDecoder { JSONDecoder() }
    }

    struct Export: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { [] }
    }

    struct Service: HttpService {
        var transport: any HttpTransport
        var apiUrl: any UrlConvertible { "api.example.com" }
        var coders: JsonCoders {
            .standard.with {
                $0.dates = .iso8601WithFractions
                $0.keys = .snakeCase
            }
        }
    }

    static let text = #"{"first_room":"a","starts_at":"2027-01-15T08:00:00.250Z"}"#
    static let meeting = Meeting(firstRoom: "a", startsAt: Date(timeIntervalSince1970: 1_800_000_000.25))

    static func service(_ reply: ScriptedReply = .reply(text: text)) -> (Service, ScriptedTransport) {
        let transport = ScriptedTransport(reply, afterLast: .repeat)
        return (Service(transport: transport), transport)
    }

    @Test("results are read, and bodies written, with them, by requests declared and in one line")
    func bothWays() async throws {
        let (service, transport) = Self.service()
        #expect(try await GetMeeting().schedule(with: service) == Self.meeting)
        #expect(try await AddMeeting(meeting: Self.meeting).schedule(with: service) == Self.meeting)
        #expect(try await ByHand().schedule(with: service) == Self.meeting)
        let inOneLine = AnyRequest(.post, ["meetings"], body: .json(Self.meeting), as: Meeting.self)
        #expect(try await inOneLine.schedule(with: service) == Self.meeting)
        #expect(try await AnyRequest(GetMeeting()).schedule(with: service) == Self.meeting)
        let bodies = transport.attempts.compactMap { attempt -> String? in
            if case .data(let data) = attempt.request.body { String(decoding: data, as: UTF8.self) } else { nil }
        }
        #expect(bodies == [Self.text, Self.text])
    }

    @Test("a scripted reply is written with those of the service that asks, unless it names others")
    func scripted() async throws {
        let (service, transport) = Self.service(.json(Self.meeting))
        #expect(try await GetMeeting().schedule(with: service) == Self.meeting)
        let plain = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        // Without fractions, and with names as declared.
        #expect(try await GetMeeting().schedule(with: plain).startsAt == Date(timeIntervalSince1970: 1_800_000_000))
        let (other, _) = Self.service(.json(Self.meeting, coders: JsonCoders(dates: .secondsSince2001)))
        #expect(await fails { try await GetMeeting().schedule(with: other) })
    }

    @Test("a request's own coders win, and outside of a call they are the standard ones")
    func ownCoders() async throws {
        let (service, _) = Self.service(.reply(text: #"{"a_b":0}"#))
        #expect(try await OwnCoders().schedule(with: service) == ["a_b": Date(timeIntervalSinceReferenceDate: 0)])
        #expect(throws: DecodingError.self) { try ByHand().decode(Data(Self.text.utf8)) }
        let plain = try String(decoding: JsonCoders.current.encoder().encode(Self.meeting), as: UTF8.self)
        #expect(plain.hasPrefix(#"{"firstRoom":"a","#))
    }

    @Test("a service that is wrapped, changed or switched keeps its coders")
    func wrapped() async throws {
        let (service, transport) = Self.service()
        #expect(try await GetMeeting().schedule(with: AnyHttpService(service)) == Self.meeting)
        #expect(try await GetMeeting().schedule(with: service.with { $0.maxAttempts = 2 }) == Self.meeting)
        let plain = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        #expect(await fails { try await GetMeeting().schedule(with: plain) })
        let changed = plain.with { $0.coders = service.coders }
        #expect(try await GetMeeting().schedule(with: changed) == Self.meeting)
        let restored = changed.with { $0.coders = .standard }
        #expect(await fails { try await GetMeeting().schedule(with: restored) })
    }

    @Test("a call within a call has those of its own service")
    func nested() async throws {
        struct Asking: CallInterceptor {
            let other: AnyHttpService<HttpError>
            func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws
                -> HttpResponse<Data>
            {
                #expect(try await OwnDates().schedule(with: other) == [Date(timeIntervalSinceReferenceDate: 1)])
                return try await next(request)
            }
        }
        struct OwnDates: JsonRequest {
            typealias Result = [Date]
            var route: HttpRoute { [] }
        }
        let plain = AnyHttpService(
            apiUrl: "a.example.com",
            transport: ScriptedTransport(.reply(text: #"["2001-01-01T00:00:01Z"]"#))
        )
        let (service, _) = Self.service()
        let asking = service.with { $0.interceptors = [Asking(other: plain)] }
        #expect(try await GetMeeting().schedule(with: asking) == Self.meeting)
    }

    @Test("a call that is made while the outer call is decoded has its own coders")
    func nestedInDecoding() async throws {
        struct Following: Request {
            typealias Result = [Date]
            let other: AnyHttpService<HttpError>
            var route: HttpRoute { [] }
            var streamsResponse: Bool { true }
            func decode(_ data: Data) throws -> [Date] { [] }
            func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> [Date] {
                let coders = JsonCoders.current
                let dates = try await AnyRequest(.get, ["dates"], as: [Date].self).schedule(with: other)
                let meeting = try coders.decoder().decode(Meeting.self, from: Data(ServiceCodersTests.text.utf8))
                #expect(meeting == ServiceCodersTests.meeting)
                return dates
            }
        }
        let plain = AnyHttpService(
            apiUrl: "a.example.com",
            transport: ScriptedTransport(.reply(text: #"["2001-01-01T00:00:01Z"]"#))
        )
        let (service, _) = Self.service()
        #expect(try await Following(other: plain).schedule(with: service) == [Date(timeIntervalSinceReferenceDate: 1)])
    }

    @Test("error bodies are read with the service's coders, in the retrier, in mapError and by the caller")
    func refusal() async throws {
        let (service, _) = Self.service(.reply(status: 409, text: Self.text))
        let heard = Locked<Meeting?>(nil)
        let retrying = service.with {
            $0.retrierFactory = ScriptedRetrier.factory { _, error in
                heard.withLock { $0 = error.responseBody() }
                return .fail(with: HttpError(.custom, stage: .retry, response: error.response))
            }
        }
        do throws(HttpError) {
            _ = try await GetMeeting().schedule(with: service)
            Issue.record("it should fail")
        } catch {
            #expect(error.responseBody(as: Meeting.self) == Self.meeting)
        }
        do throws(HttpError) {
            _ = try await GetMeeting().schedule(with: retrying)
            Issue.record("it should fail")
        } catch {
            #expect(error.responseBody(as: Meeting.self) == Self.meeting)
        }
        #expect(heard.withLock { $0 } == Self.meeting)
    }

    @Test("events and lines are read with them, over a connection that is kept and over one")
    func streams() async throws {
        let event = "data: \(Self.text)\n\n"
        let header: HttpHeader = ["Content-Type": "text/event-stream"]
        let (service, _) = Self.service(.reply(header: header, text: event))
        for try await event in Export().events(with: service) {
            #expect(try event.decode(as: Meeting.self) == Self.meeting)
            #expect(event == ServerSentEvent(data: Self.text))
            break
        }
        for try await event in try await Export().schedule(with: service).events() {
            #expect(try event.decode(as: Meeting.self) == Self.meeting)
        }
        let (lines, _) = Self.service(.reply(text: Self.text + "\n" + Self.text))
        var count = 0
        for try await value in try await Export().schedule(with: lines).values(of: Meeting.self) {
            #expect(value == Self.meeting)
            count += 1
        }
        #expect(count == 2)
    }

    struct Watch: JsonStreamRequest {
        typealias Message = Meeting
        typealias Result = Meeting
        var route: HttpRoute { [] }
    }

    @Test("messages of a web socket are written and read with them")
    func messages() async throws {
        let echo = ScriptedWebSocketTransport(
            .accept { socket in
                let message = try await socket.receive()
                #expect(message == .text(Self.text))
                try await socket.send(message)
            }
        )
        let service = Self.service().0.with { $0.webSocketTransport = echo }
        let stream = try await Watch().schedule(with: service)
        try await stream.send(Self.meeting)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Self.meeting)
        await stream.close()
    }

    @Test("the standard form of a refusal has its own names")
    func problem() async throws {
        struct Shouting: HttpService {
            let transport: any HttpTransport
            var apiUrl: any UrlConvertible { "api.example.com" }
            var coders: JsonCoders {
                .standard.with { $0.adjustDecoder = { $0.keyDecodingStrategy = .custom { _ in Name("x") } } }
            }
        }
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let header: HttpHeader = ["Content-Type": "application/problem+json"]
        let reply = ScriptedReply.reply(status: 409, header: header, text: #"{"title":"no"}"#)
        do throws(HttpError) {
            _ = try await GetMeeting().schedule(with: Shouting(transport: ScriptedTransport(reply)))
        } catch {
            #expect(error.problem?.title == "no")
        }
    }
}

/// Whether `work` throws.
private func fails(_ work: () async throws -> ServiceCodersTests.Meeting) async -> Bool {
    do {
        _ = try await work()
        return false
    } catch {
        return true
    }
}
