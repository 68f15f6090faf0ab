import Foundation

/// A request whose result is JSON, and so is its body if it has one.
public protocol JsonRequest: Request where Result: Decodable {
    /// Whether `snake_case` on the wire is `camelCase` in Swift, both ways. Default: false, names as they are.
    ///
    /// As Foundation's strategies do it: `userID` goes out as `user_id` and would come back as `userId`, so write that.
    var usesSnakeCase: Bool { get }
    /// The decoder of the result. Default: a new `JSONDecoder` that follows ``usesSnakeCase``.
    var decoder: JSONDecoder { get }
}

extension JsonRequest {
    /// Names as they are.
    public var usesSnakeCase: Bool { false }

    /// A new decoder that follows ``usesSnakeCase``.
    public var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        if usesSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        return decoder
    }

    /// A new encoder with sorted keys that follows ``usesSnakeCase``.
    public var encoder: JSONEncoder {
        let encoder = JSONEncoder.withSortedKeys()
        if usesSnakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return encoder
    }

    /// Decodes the body as JSON.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> Result {
        try decoder.decode(Result.self, from: data)
    }
}

extension JsonRequest where Result == String {
    /// A JSON string, not the raw text.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> String {
        try decoder.decode(String.self, from: data)
    }
}

extension JsonRequest where Result == Data {
    /// A JSON string of Base64, not the raw bytes.
    ///
    /// - Throws: The decoder's error; the call fails with kind `decoding`.
    public func decode(_ data: Data) throws -> Data {
        try decoder.decode(Data.self, from: data)
    }
}
