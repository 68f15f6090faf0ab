import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Dates in JSON")
struct JsonDateTests {
    @Test(
        "dates of RFC 3339 are read, with any fraction and any zone",
        arguments: [
            ("2027-01-15T08:00:00Z", 1_800_000_000), ("2027-01-15t08:00:00z", 1_800_000_000),
            ("2027-01-15 08:00:00Z", 1_800_000_000), ("2027-01-15T08:00:00.5Z", 1_800_000_000.5),
            ("2027-01-15T08:00:00.250Z", 1_800_000_000.25), ("2027-01-15T08:00:00,250Z", 1_800_000_000.25),
            ("2027-01-15T08:00:00.250000Z", 1_800_000_000.25),
            ("2027-01-15T08:00:00.25000000000000000000000000Z", 1_800_000_000.25),
            ("2027-01-15T09:30:00+01:30", 1_800_000_000), ("2027-01-15T03:00:00-0500", 1_800_000_000),
            ("2027-01-15T09:00:00+01", 1_800_000_000), ("1970-01-01T00:00:00-00:00", 0),
            ("1969-12-31T23:59:59.75Z", -0.25), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2024-02-29T00:00:00Z", 1_709_164_800), ("0000-01-01T00:00:00Z", -62_167_219_200),
        ] as [(String, TimeInterval)]
    )
    func reads(text: String, seconds: TimeInterval) {
        #expect(JsonDate.date(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "a text in no known form is not a date",
        arguments: [
            "", "2027-01-15", "2027-01-15T08:00:00", "2027-01-15T08:00Z", "2027-01-15T08:00:00.Z",
            "2027-01-15T24:00:00Z",
            "2027-01-15T08:60:00Z", "2027-01-15T08:00:61Z", "2027-13-01T00:00:00Z", "2027-00-01T00:00:00Z",
            "2027-02-29T00:00:00Z", "2027-01-00T00:00:00Z", "2027-01-15T08:00:00Zx", " 2027-01-15T08:00:00Z",
            "27-01-15T08:00:00Z", "+2027-01-15T08:00:00Z", "2027-01-15T08:00:00+24:00", "2027-01-15T08:00:00+01:60",
            "2027-01-15T08:00:00+1", "2027-01-15T08:00:00+", "２027-01-15T08:00:00Z",
        ]
    )
    func refuses(text: String) {
        #expect(JsonDate.date(text) == nil)
    }

    @Test(
        "dates are written in UTC, to the millisecond or in whole seconds",
        arguments: [
            (1_800_000_000.25, "2027-01-15T08:00:00.250Z", "2027-01-15T08:00:00Z"),
            (1_799_999_999.9996, "2027-01-15T08:00:00.000Z", "2027-01-15T07:59:59Z"),
            (-0.25, "1969-12-31T23:59:59.750Z", "1969-12-31T23:59:59Z"),
            (0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z"),
            (-62_167_219_200, "0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z", "2000-02-29T00:00:00Z"),
        ] as [(TimeInterval, String, String)]
    )
    func writes(seconds: TimeInterval, milliseconds: String, whole: String) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(JsonDate.text(date, withFractions: true) == milliseconds)
        #expect(JsonDate.text(date, withFractions: false) == whole)
    }

    @Test("a year without four digits is not written", arguments: [253_402_300_800, -62_167_219_201, .infinity, .nan])
    func farAway(seconds: TimeInterval) {
        #expect(JsonDate.text(Date(timeIntervalSince1970: seconds), withFractions: true) == nil)
    }

    @Test("a written date is read as the same moment, on every day of four hundred years")
    func roundTrip() {
        for day in 0..<146_097 {
            let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400 + Double(day % 1000) / 1000)
            guard let text = JsonDate.text(date, withFractions: true), let read = JsonDate.date(text) else {
                Issue.record("\(day)")
                return
            }
            guard abs(read.timeIntervalSince(date)) < 1e-5, JsonDate.text(read, withFractions: true) == text else {
                Issue.record("\(text)")
                return
            }
        }
    }

    @Test("each form of dates is written and read", arguments: [0, 1, 2, 3, 4, 5])
    func forms(index: Int) throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let (dates, text): (JsonCoders.Dates, String) = [
            (.secondsSince2001, "[821692800]"), (.secondsSince1970, "[1800000000]"),
            (.millisecondsSince1970, "[1800000000000]"), (.iso8601, #"["2027-01-15T08:00:00Z"]"#),
            (.iso8601WithFractions, #"["2027-01-15T08:00:00.000Z"]"#),
            (
                .text(
                    write: { "\(Int($0.timeIntervalSince1970))" },
                    read: { Double($0).map(Date.init(timeIntervalSince1970:)) }
                ),
                #"["1800000000"]"#
            ),
        ][index]
        let coders = JsonCoders.standard.with { $0.dates = dates }
        #expect(String(decoding: try coders.encoder().encode([date]), as: UTF8.self) == text)
        #expect(try coders.decoder().decode([Date].self, from: Data(text.utf8)) == [date])
    }

    @Test("a date that is none does not decode, and one that cannot be written does not encode")
    func failures() {
        let coders = JsonCoders.standard.with { $0.dates = .iso8601 }
        #expect(throws: DecodingError.self) { try coders.decoder().decode([Date].self, from: Data(#"["today"]"#.utf8)) }
        let farAway = Date.distantFuture.addingTimeInterval(1e12)
        #expect(throws: EncodingError.self) { try coders.encoder().encode([farAway]) }
    }

    @Test("F29: dates of a service without coders are RFC 3339, in bodies, queries and results")
    func defaults() async throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let transport = ScriptedTransport(
            .reply(text: #"["2027-01-15T08:00:00Z","2027-01-15T09:00:00.000+01:00","2027-01-15T08:00:00.000000Z"]"#)
        )
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        let request = AnyRequest(.post, ["dates"], query: ["since": date], body: .json([date]), as: [Date].self)
        #expect(try await request.schedule(with: service) == [date, date, date])
        #expect(transport.attempts.first?.body == Data(#"["2027-01-15T08:00:00Z"]"#.utf8))
        #expect(transport.attempts.first?.request.url.query(percentEncoded: false) == "since=2027-01-15T08:00:00Z")
    }

    @Test(
        "F29: a date in another form than the coders have says to set `coders`, and where it is, without its value",
        arguments: [
            (JsonCoders.standard, "1800000000.5", true), (.standard, "821692800", true),
            (.standard, #""15.01.2027""#, true),
            (JsonCoders(dates: .secondsSince1970), #""2027-01-15T08:00:00Z""#, true),
            (JsonCoders(dates: .millisecondsSince1970), #""1800000000000""#, true),
            (.standard, "null", false), (.standard, "{}", false), (JsonCoders(dates: .secondsSince1970), "[]", false),
        ]
    )
    func otherForm(coders: JsonCoders, value: String, isHinted: Bool) async throws {
        struct Meeting: Decodable, Sendable { let startsAt: Date }
        let transport = ScriptedTransport(
            .reply(header: ["Content-Type": "application/json"], text: #"{"startsAt":\#(value)}"#)
        )
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport).with { $0.coders = coders }
        let error = await #expect(throws: HttpError.self) {
            try await AnyRequest(.get, ["meeting"], as: Meeting.self).schedule(with: service)
        }
        let text = "\(try #require(error))"
        #expect(text.contains("set `coders`") == isHinted, "\(text)")
        #expect(text.contains("startsAt"))
        #expect(!text.contains("1800000000") && !text.contains("2027"))
    }
}
