import NautilusHTTP

/// The header of a response, read line by line as libcurl hands it over.
///
/// It does not rely on libcurl, which calls a header that breaks off a success, takes a `Content-Length` that is too
/// large for it as none, and accepts any number of interim responses. Here only the empty line proves that a header is
/// complete.
struct CurlResponseHead: Sendable {
    /// Why a header is refused.
    enum Refusal: Error, Hashable, Sendable {
        /// The header does not conform to RFC 9112.
        case malformed
        /// The header, alone or with interim responses and trailers, is larger than it may be.
        case tooLarge
        /// A 101 that was not asked for.
        case unrequestedUpgrade
    }

    /// The part of the response that comes next.
    private enum Stage {
        case statusLine
        case fields
        case trailers
    }

    /// How many interim responses one response may have: more than any server has a reason to send.
    static let interimLimit = 32

    /// The status; 0 before the first line.
    private(set) var status = 0
    /// The field lines, line ends included.
    private(set) var lines: [UInt8] = []
    /// The field lines after the body, line ends included; empty until they arrive.
    private var trailerLines: [UInt8] = []
    /// The length of the body; nil if none is given, or if a transfer coding frames the body (RFC 9112 §6.3).
    var contentLength: Int64? { hasTransferCoding ? nil : givenLength }
    /// The value of `Content-Length`.
    private var givenLength: Int64?
    private var hasTransferCoding = false
    /// Whether the body has a transfer coding besides `chunked`. A server may use one only if it was asked for (RFC 9112
    /// §6.1), which no request does; what its body says cannot be known.
    private(set) var hasUnrequestedCoding = false
    /// The codings of the body, the one applied last first; without `identity`.
    private(set) var codings: [String] = []
    private var stage = Stage.statusLine
    private var interimCount = 0
    private var size = 0
    /// Whether the response is HTTP/1.1.
    private(set) var isHttp11 = false
    private let limit: Int
    private let expectsUpgrade: Bool

    /// - Parameters:
    ///   - limit: The most bytes of all lines, including interim responses and trailers.
    ///   - expectsUpgrade: Whether a 101 is an answer. Default: no, since an HTTP request does not ask for one.
    init(limit: Int, expectsUpgrade: Bool = false) {
        self.limit = limit
        self.expectsUpgrade = expectsUpgrade
    }

    /// Whether the whole header has arrived.
    var isComplete: Bool { stage == .trailers }

    /// Reads the next lines, with their ends.
    ///
    /// - Returns: Whether these lines have completed the header.
    mutating func take(lines block: UnsafeRawBufferPointer) throws(Refusal) -> Bool {
        // Reserves memory once, so that growing does not copy the lines.
        if stage == .statusLine { lines.reserveCapacity(block.count) }
        var hasCompleted = false
        var rest = block[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            if try take(UnsafeRawBufferPointer(rebasing: rest[..<end])) { hasCompleted = true }
            rest = rest[end...]
        }
        return hasCompleted
    }

    /// Reads the next line, with its end.
    ///
    /// - Returns: Whether this line has completed the header.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(Refusal) -> Bool {
        size += line.count
        guard size <= limit else { throw .tooLarge }
        guard line.isOneLine else { throw .malformed }
        switch stage {
        case .statusLine:
            try takeStatusLine(line)
            return false
        case .fields:
            guard line.isEndOfHeader else {
                try takeField(line)
                return false
            }
            return try end()
        case .trailers:
            if !line.isEndOfHeader { trailerLines.append(contentsOf: line) }
            return false
        }
    }

    private mutating func end() throws(Refusal) -> Bool {
        guard status != 101 || expectsUpgrade else { throw .unrequestedUpgrade }
        guard status < 200, status != 101 else {
            stage = .trailers
            return true
        }
        interimCount += 1
        guard interimCount <= Self.interimLimit else { throw .tooLarge }
        (stage, status, givenLength) = (.statusLine, 0, nil)
        (hasTransferCoding, hasUnrequestedCoding) = (false, false)
        lines.removeAll(keepingCapacity: true)
        codings = []
        return false
    }

    private mutating func takeStatusLine(_ line: UnsafeRawBufferPointer) throws(Refusal) {
        guard line.starts(with: "HTTP/".utf8), let blank = line.firstIndex(of: 0x20) else { throw .malformed }
        let digits = line[(blank + 1)...].prefix { $0 > 0x20 }
        guard digits.count == 3 else { throw .malformed }
        var status = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { throw .malformed }
            status = status * 10 + Int(digit - 0x30)
        }
        guard status >= 100 else { throw .malformed }
        (self.status, stage) = (status, .fields)
        isHttp11 = line.starts(with: "HTTP/1.1 ".utf8)
    }

    private mutating func takeField(_ line: UnsafeRawBufferPointer) throws(Refusal) {
        guard let first = line.first else { throw .malformed }
        // A line that begins with a blank continues the line before (RFC 9112 §5.2).
        let isContinuation = first == 0x20 || first == 0x09
        guard isContinuation ? !lines.isEmpty : true else { throw .malformed }
        lines.append(contentsOf: line)
        guard !isContinuation else { return }
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else { throw .malformed }
        let name = line[..<colon]
        if name.isName("content-length") {
            try takeLength(line[(colon + 1)...])
        } else if name.isName("transfer-encoding") {
            hasTransferCoding = true
            // Some proxies say `chunked` twice, and mean it once.
            if !Self.names(in: line[(colon + 1)...]).allSatisfy({ $0 == "chunked" }) { hasUnrequestedCoding = true }
        } else if name.isName("content-encoding") {
            takeCodings(line[(colon + 1)...])
        }
    }

    /// Reads a length. Differing or invalid lengths are a way to smuggle responses (RFC 9112 §6.3).
    private mutating func takeLength(_ value: Slice<UnsafeRawBufferPointer>) throws(Refusal) {
        var rest = value
        while true {
            let end = rest.firstIndex(of: 0x2C) ?? rest.endIndex
            guard let length = rest[..<end].trimmed.number, givenLength ?? length == length else { throw .malformed }
            givenLength = length
            guard end < rest.endIndex else { return }
            rest = rest[(end + 1)...]
        }
    }

    private mutating func takeCodings(_ value: Slice<UnsafeRawBufferPointer>) {
        codings = Self.names(in: value).reversed() + codings
    }

    /// The names in a list of codings, in lower case and without `identity`.
    private static func names(in value: Slice<UnsafeRawBufferPointer>) -> [String] {
        value.split(separator: 0x2C)
            .map { String(decoding: $0.trimmed, as: UTF8.self).lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
    }
}

extension CurlResponseHead {
    /// Whether a body follows (RFC 9112 §6.3).
    ///
    /// - Parameter method: The method of the request that is answered.
    func hasBody(inAnswerTo method: HttpMethod) -> Bool {
        status != 204 && status != 304 && method != .head
    }

    /// The fields, in order.
    var header: HttpHeader { HttpHeader(lines: lines) }

    /// The fields after the body.
    var trailers: HttpHeader { trailerLines.isEmpty ? [:] : HttpHeader(lines: trailerLines) }
}

extension UnsafeRawBufferPointer {
    /// Whether the line contains nothing that others, to whom the header is passed on, might take for the end of a line
    /// or of a text (RFC 9112 §2.2).
    fileprivate var isOneLine: Bool {
        var rest = self[...]
        if rest.last == 0x0A { rest.removeLast() }
        if rest.last == 0x0D { rest.removeLast() }
        return !rest.contains { $0 == 0 || $0 == 0x0D }
    }

    fileprivate var isEndOfHeader: Bool {
        count == 1 && self[0] == 0x0A || count == 2 && self[0] == 0x0D && self[1] == 0x0A
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Whether the bytes are `name`, which is given in lower case, in any case.
    fileprivate func isName(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in zip(self, name).allSatisfy { $0 | 0x20 == $1 || $0 == $1 } }
    }

    /// The number that the bytes are, which have to be only digits; nil for 2⁶³ and above.
    fileprivate var number: Int64? {
        guard !isEmpty else { return nil }
        var number: Int64 = 0
        for digit in self {
            guard (0x30...0x39).contains(digit) else { return nil }
            let (shifted, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsNow) = shifted.addingReportingOverflow(Int64(digit - 0x30))
            guard !overflows, !overflowsNow else { return nil }
            number = sum
        }
        return number
    }
}
