import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Request and JsonRequest")
struct JsonRequestTests {
    private struct Note: Codable, Equatable, Sendable {
        var noteTitle: String
        var lastEdit: Int
    }

    private struct Text: Request {
        typealias Result = String
        var route: HttpRoute { [] }
    }
    private struct Bytes: Request {
        typealias Result = Data
        var route: HttpRoute { [] }
    }
    private struct Nothing: Request {
        typealias Result = Void
        var route: HttpRoute { [] }
    }
    private struct JsonText: JsonRequest {
        typealias Result = String
        var route: HttpRoute { [] }
    }
    private struct JsonBytes: JsonRequest {
        typealias Result = Data
        var route: HttpRoute { [] }
    }
    private struct JsonList: JsonRequest {
        typealias Result = [Int?]
        var route: HttpRoute { [] }
    }
    private struct GetNote: JsonRequest {
        typealias Result = Note
        var usesSnakeCase = false
        var route: HttpRoute { [] }
    }
    private struct OwnDecoder: JsonRequest {
        typealias Result = Date
        var route: HttpRoute { [] }
        var decoder: JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
    }

    @Test("text, bytes and nothing are taken as they come")
    func plain() throws {
        #expect(try Text().decode(Data("\"ü\"".utf8)) == "\"ü\"")
        #expect(try Text().decode(Data()) == "")
        #expect(try Bytes().decode(Data([0, 255])) == Data([0, 255]))
        try Nothing().decode(Data([0, 255]))
    }

    @Test("bytes that are no UTF-8 are not text")
    func invalidText() {
        #expect(throws: DecodingError.self) { try Text().decode(Data([0xFF])) }
    }

    @Test("a JSON request decodes JSON, text and bytes included")
    func json() throws {
        #expect(try JsonText().decode(Data(#""ü""#.utf8)) == "ü")
        #expect(try JsonBytes().decode(Data(#""AP8=""#.utf8)) == Data([0, 255]))
        #expect(try JsonList().decode(Data("[1,null]".utf8)) == [1, nil])
        #expect(throws: DecodingError.self) { try JsonText().decode(Data("bare".utf8)) }
        #expect(throws: DecodingError.self) { try JsonList().decode(Data()) }
    }

    @Test("the decoder can be one's own")
    func decoder() throws {
        #expect(try OwnDecoder().decode(Data("86400".utf8)) == Date(timeIntervalSince1970: 86_400))
    }

    @Test("JSON names are as they are declared, or snake case both ways")
    func snakeCase() throws {
        let note = Note(noteTitle: "t", lastEdit: 1)
        for (request, text) in [
            (GetNote(), #"{"lastEdit":1,"noteTitle":"t"}"#),
            (GetNote(usesSnakeCase: true), #"{"last_edit":1,"note_title":"t"}"#),
        ] {
            #expect(try request.encoder.encode(note) == Data(text.utf8))
            #expect(try request.decode(Data(text.utf8)) == note)
        }
    }

    @Test("a request as `any Request` decodes in the same way")
    func existential() throws {
        func decode(_ request: some Request, _ text: String) throws -> Any { try request.decode(Data(text.utf8)) }
        #expect(try decode(Text(), #""x""#) as? String == #""x""#)
        #expect(try decode(JsonText(), #""x""#) as? String == "x")
        #expect(try decode(Bytes(), "AP8=") as? Data == Data("AP8=".utf8))
        #expect(try decode(JsonBytes(), #""AP8=""#) as? Data == Data([0, 255]))
    }

    @Test("everything else has its documented default")
    func defaults() {
        let request = Text()
        #expect(request.url == nil)
        #expect(request.usesSecureProtocol == nil)
        #expect(request.method == .get)
        #expect(request.route == [])
        #expect(request.query.isEmpty)
        #expect(request.header.isEmpty)
        #expect(request.body.contentType == nil)
        #expect(request.acceptedStatusCodes == .success)
        #expect(request.priority == .normal)
        #expect(request.timeout == .ofService)
        #expect(request.deadline == .ofService)
    }
}
