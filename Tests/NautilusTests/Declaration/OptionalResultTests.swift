import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Results that may be nothing")
struct OptionalResultTests {
    private struct Note: Codable, Equatable, Sendable { var id: Int }

    private struct FindNote: JsonRequest {
        typealias Result = Note?
        var route: HttpRoute { ["note"] }
    }

    /// Compiled once, for results of every type.
    private struct Find<Found: Decodable & Sendable>: JsonRequest {
        typealias Result = Found
        var route: HttpRoute { ["note"] }
    }

    private static func service(_ reply: ScriptedReply) -> AnyHttpService<HttpError> {
        AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(reply, afterLast: .repeat))
    }

    @Test(
        "F19: an optional JSON result is nil for 204, 205, an empty body and null, however the request is declared",
        arguments: [(204, ""), (205, ""), (205, "reset"), (200, ""), (201, ""), (200, "null")]
    )
    func nothing(status: Int, body: String) async throws {
        let service = Self.service(.reply(status: status, text: body))
        #expect(try await FindNote().schedule(with: service) == nil)
        #expect(try await Find<Note?>().schedule(with: service) == nil)
        #expect(try await AnyRequest(FindNote()).schedule(with: service) == nil)
        #expect(try await AnyRequest(.get, ["note"], as: Note?.self).schedule(with: service) == nil)
        #expect(try await AnyRequest(.get, ["note"], as: [Note]?.self).schedule(with: service) == nil)
        #expect(try await AnyRequest(.get, ["note"], as: Date?.self).schedule(with: service) == nil)
    }

    @Test("F19: an optional JSON result that is there is decoded, and what cannot be decoded stays an error")
    func something() async throws {
        let found = Self.service(.json(Note(id: 7)))
        #expect(try await FindNote().schedule(with: found) == Note(id: 7))
        #expect(try await Find<Note?>().schedule(with: found) == Note(id: 7))
        #expect(try await AnyRequest(.get, ["note"], as: Note?.self).schedule(with: found) == Note(id: 7))
        let broken = Self.service(.reply(text: "{"))
        await #expect(throws: HttpError.self) { try await FindNote().schedule(with: broken) }
        await #expect(throws: HttpError.self) {
            try await AnyRequest(.get, ["note"], as: Note?.self).schedule(with: broken)
        }
    }

    @Test("F19: an empty body in place of a result that is not optional stays an error", arguments: [200, 204])
    func needed(status: Int) async {
        let service = Self.service(.status(status))
        await #expect(throws: HttpError.self) { try await Find<Note>().schedule(with: service) }
        await #expect(throws: HttpError.self) { try await Find<[Note]>().schedule(with: service) }
        await #expect(throws: HttpError.self) {
            try await AnyRequest(.get, ["note"], as: Note.self).schedule(with: service)
        }
    }
}
