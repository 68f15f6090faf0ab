import Foundation

/// The way in which JSON is written and read: dates, names, and every other setting of encoders and decoders.
///
/// A service has one for all its requests:
///
/// ```swift
/// struct NotesService {}
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var coders: JsonCoders { JsonCoders(dates: .iso8601WithFractions, keys: .snakeCase) }
/// }
/// ```
/// It is a value that makes a new encoder or decoder for each body, since calls must not share these objects.
public struct JsonCoders: Sendable {
    /// The form of dates.
    public enum Dates: Sendable {
        /// A number, the seconds since 2001: Foundation's own form, which few servers share.
        case secondsSince2001
        /// A number, the seconds since 1970.
        case secondsSince1970
        /// A number, the milliseconds since 1970.
        case millisecondsSince1970
        /// Text in the format of RFC 3339, which APIs call ISO 8601, in whole seconds: `2027-01-15T08:00:00Z`. Reading
        /// accepts fractions and other time zones, too.
        case iso8601
        /// The same with milliseconds, `2027-01-15T08:00:00.250Z`. Reading accepts any number of digits, including
        /// none.
        case iso8601WithFractions
        /// Text in another form.
        ///
        /// - Parameters:
        ///   - write: Makes the text for a date.
        ///   - read: Makes the date from a text; nil for text that has another form, which makes the decoding fail.
        case text(write: @Sendable (Date) -> String, read: @Sendable (String) -> Date?)
    }

    /// The form of names.
    public enum Keys: Sendable {
        /// The names as in Swift.
        case asDeclared
        /// `snake_case` in JSON and `camelCase` in Swift, converted by Foundation's strategies. They turn `userID` into
        /// `user_id`, but `user_id` into `userId`: so name the property `userId`.
        case snakeCase
    }

    /// The form of dates. Default: ``Dates/iso8601``, as most APIs write them.
    public var dates = Dates.iso8601
    /// The form of names. Default: as declared.
    public var keys = Keys.asDeclared
    /// Changes each encoder after the other settings are applied. Default: nil, no change.
    public var adjustEncoder: (@Sendable (JSONEncoder) -> Void)?
    /// Changes each decoder after the other settings are applied. Default: nil, no change.
    public var adjustDecoder: (@Sendable (JSONDecoder) -> Void)?

    /// The charset of the text that is decoded besides JSON; it changes with each response.
    package var charset = TextCharset.utf8

    /// Creates coders with these forms.
    public init(dates: Dates = .iso8601, keys: Keys = .asDeclared) {
        (self.dates, self.keys) = (dates, keys)
    }

    /// The default: dates in the format of RFC 3339, names as declared, and keys sorted, so that a repeated body is
    /// identical; otherwise as Foundation makes coders.
    public static let standard = JsonCoders()

    /// These coders with some of their properties changed.
    ///
    /// - Parameter change: Sets properties. It is called once, immediately.
    /// - Throws: Any error that `change` throws.
    public func with<Failure: Error>(_ change: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var changed = self
        try change(&changed)
        return changed
    }

    /// A new encoder.
    public func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        if case .snakeCase = keys { encoder.keyEncodingStrategy = .convertToSnakeCase }
        switch dates {
        case .secondsSince2001: break
        case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
        case .millisecondsSince1970: encoder.dateEncodingStrategy = .millisecondsSince1970
        case .iso8601: encoder.write { JsonDate.text($0, withFractions: false) }
        case .iso8601WithFractions: encoder.write { JsonDate.text($0, withFractions: true) }
        case .text(let write, _): encoder.write(write)
        }
        adjustEncoder?(encoder)
        return encoder
    }

    /// A new decoder.
    public func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        if case .snakeCase = keys { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        switch dates {
        case .secondsSince2001: decoder.readNumber { Date(timeIntervalSinceReferenceDate: $0) }
        case .secondsSince1970: decoder.readNumber { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970: decoder.readNumber { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601, .iso8601WithFractions: decoder.read(JsonDate.date)
        case .text(_, let read): decoder.read(read)
        }
        adjustDecoder?(decoder)
        return decoder
    }
}

extension JsonCoders {
    @TaskLocal private static var entered: JsonCoders?

    /// The coders of the service whose request the current task is building or decoding; the standard coders elsewhere.
    ///
    /// They are a request's default coders. A request that decodes by hand gets its decoder from them.
    public static var current: JsonCoders { entered ?? .standard }

    /// Runs `work` with these coders as the current ones.
    package func asCurrent<Value>(_ work: () throws -> Value) rethrows -> Value {
        isIdle ? try work() : try Self.$entered.withValue(self, operation: work)
    }

    /// Runs `work` with the current coders, and with `charset` as the one in which text is decoded.
    package static func reading<Value>(_ charset: TextCharset, _ work: () throws -> Value) rethrows -> Value {
        guard charset != current.charset else { return try work() }
        var coders = current
        coders.charset = charset
        return try $entered.withValue(coders, operation: work)
    }

    /// Runs `work`, which may suspend, with these coders as the current ones.
    package func asCurrent<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        isIdle ? try await work() : try await Self.$entered.withValue(self, operation: work)
    }

    /// Whether these are the current coders anyway, as for most services.
    private var isIdle: Bool { isStandard && Self.entered == nil }

    private var isStandard: Bool {
        guard case .iso8601 = dates, case .asDeclared = keys, charset == .utf8 else { return false }
        return adjustEncoder == nil && adjustDecoder == nil
    }

    /// Coders in a reference, carried by a value that is copied often, such as an error, an event or a stream.
    package final class Carried: Sendable {
        package let coders: JsonCoders

        fileprivate init(_ coders: JsonCoders) {
            self.coders = coders
        }
    }

    /// These coders in a reference; nil for the standard ones.
    package var carried: Carried? { isStandard ? nil : Carried(self) }
}

extension JsonCoders.Carried? {
    /// Makes a new decoder from the carried coders, or from the current ones if there are none.
    package func decoder() -> JSONDecoder { (self?.coders ?? .current).decoder() }
}

extension JSONEncoder {
    fileprivate func write(_ text: @escaping @Sendable (Date) -> String?) {
        dateEncodingStrategy = .custom { date, encoder in
            guard let text = text(date) else {
                let reason = "The date is of no year that has four digits."
                throw EncodingError.invalidValue(date, .init(codingPath: encoder.codingPath, debugDescription: reason))
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
}

extension JSONDecoder {
    fileprivate func read(_ date: @escaping @Sendable (String) -> Date?) {
        dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let text = try? container.decode(String.self) else {
                throw DateFormError.notText.found(in: container, at: decoder.codingPath)
            }
            guard let date = date(text) else {
                throw DateFormError.unknownText.found(in: container, at: decoder.codingPath)
            }
            return date
        }
    }

    fileprivate func readNumber(_ date: @escaping @Sendable (Double) -> Date) {
        dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let number = try? container.decode(Double.self) else {
                throw DateFormError.notNumber.found(in: container, at: decoder.codingPath)
            }
            return date(number)
        }
    }
}

/// Why a value is no date to the service's coders.
private enum DateFormError: PrintableError {
    case notText, unknownText, notNumber

    var description: String {
        switch self {
        case .notText:
            "a number in place of a date's text: set `coders`, for instance to JsonCoders(dates: .secondsSince1970)"
        case .unknownText: "a text of another form in place of a date: set `coders`"
        case .notNumber: "no number in place of a date: set `coders`, for instance to JsonCoders(dates: .iso8601)"
        }
    }

    /// The decoding error, if the value is of the other kind; one of the value's type, if it is of neither.
    func found(in container: any SingleValueDecodingContainer, at path: [any CodingKey]) -> DecodingError {
        let isOther = (try? container.decode(Double.self)) != nil || (try? container.decode(String.self)) != nil
        if container.decodeNil() {
            return .valueNotFound(Date.self, .init(codingPath: path, debugDescription: "There is no date."))
        }
        guard isOther else {
            return .typeMismatch(Date.self, .init(codingPath: path, debugDescription: "The value is no date."))
        }
        return .dataCorrupted(.init(codingPath: path, debugDescription: description, underlyingError: self))
    }
}

extension [any CodingKey] {
    /// The place in a JSON value, for an error: the names that types declare, and indices, separated by dots. A key of
    /// a dictionary is part of the body, perhaps a mail address or a token; there is a star for it.
    package var place: String {
        isEmpty ? "the top level" : map(\.placeName).joined(separator: ".")
    }
}

extension CodingKey {
    /// The key as an error names it.
    fileprivate var placeName: String {
        if let intValue { return String(intValue) }
        // The keys of dictionaries are of types of Foundation and of the standard library.
        let type = String(reflecting: type(of: self))
        return ["Swift.", "Foundation", "Combine."].contains { type.hasPrefix($0) } ? "*" : stringValue
    }
}
