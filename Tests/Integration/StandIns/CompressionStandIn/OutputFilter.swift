import Foundation

/// The direction of a filter.
package enum FilterOperation: Sendable {
    case compress
    case decompress
}

/// The algorithm of a filter.
package enum Algorithm: Sendable {
    case zlib
}

/// A filter as Apple's framework declares it, which passes bytes on as they are.
package final class OutputFilter {
    private let write: (Data?) throws -> Void

    package init(
        _ operation: FilterOperation,
        using algorithm: Algorithm,
        bufferCapacity: Int = 65_536,
        writingTo writeFunc: @escaping (Data?) throws -> Void
    ) throws {
        write = writeFunc
    }

    package func write<Bytes: DataProtocol>(_ data: Bytes?) throws { try write(data.map { Data($0) }) }

    package func finalize() throws { try write(nil) }
}
