#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// Undoes gzip and deflate as the bytes come.
    ///
    /// libcurl would do it as well, but takes a stream that breaks off for a whole one.
    final class CurlInflater {
        /// The bytes are not in the announced coding.
        struct Broken: Error {}

        private enum Stage {
            /// Nothing has come.
            case empty
            case inside
            case ended
        }

        private let isGzip: Bool
        /// Nil before the first byte, which tells which of its two meanings deflate has.
        private var stream: OpaquePointer?
        private var stage = Stage.empty

        /// - Parameter coding: A name of RFC 9110 §8.4.1, in small letters; nil for one that it does not know.
        init?(_ coding: String) {
            switch coding {
            case "gzip", "x-gzip": isGzip = true
            case "deflate": isGzip = false
            default: return nil
            }
        }

        deinit {
            if let stream { nautilus_inflater_destroy(stream) }
        }

        /// Whether it can work here at all; a coding that cannot be undone must not be asked for.
        static let isAvailable = nautilus_inflater_exists() != 0

        /// Whether nothing has come, or all that belongs together.
        var isWhole: Bool { stage != .inside }

        /// Decodes the next bytes, and hands over the output piece by piece, until `take` returns false.
        ///
        /// - Throws: ``Broken``.
        func run(_ input: UnsafeRawBufferPointer, take: (UnsafeRawBufferPointer) -> Bool) throws(Broken) {
            var rest = input[...]
            guard !rest.isEmpty else { return }
            while true {
                let isFull = try step(try stream(for: rest), &rest, take)
                // Output that did not fit waits for room, even when all of the input is taken.
                guard let isFull, !rest.isEmpty || isFull && stage == .inside else { return }
            }
        }

        private func stream(for input: Slice<UnsafeRawBufferPointer>) throws(Broken) -> OpaquePointer {
            if stage == .ended {
                // One gzip member may follow another (RFC 1952 §2.2); nothing else may.
                guard isGzip, let stream, nautilus_inflater_reset(stream) != 0 else { throw Broken() }
                stage = .inside
                return stream
            }
            stage = .inside
            if let stream { return stream }
            let kind =
                isGzip ? NAUTILUS_INFLATE_GZIP : input.beginsAsZlib ? NAUTILUS_INFLATE_ZLIB : NAUTILUS_INFLATE_RAW
            guard let made = nautilus_inflater_create(kind) else { throw Broken() }
            stream = made
            return made
        }

        /// - Returns: Whether the output was full; nil when no more of it is wanted.
        private func step(
            _ stream: OpaquePointer,
            _ input: inout Slice<UnsafeRawBufferPointer>,
            _ take: (UnsafeRawBufferPointer) -> Bool
        ) throws(Broken) -> Bool? {
            var (taken, made) = (input.count, 65_536)
            var state = NAUTILUS_ZLIB_FAILED
            let goesOn = withUnsafeTemporaryAllocation(byteCount: made, alignment: 1) { output in
                guard let source = UnsafeRawBufferPointer(rebasing: input).bindMemory(to: UInt8.self).baseAddress,
                    let target = output.bindMemory(to: UInt8.self).baseAddress
                else { return false }
                state = nautilus_inflater_run(stream, source, &taken, target, &made)
                return made == 0 || take(UnsafeRawBufferPointer(rebasing: output[..<made]))
            }
            input = input.dropFirst(taken)
            switch state {
            case NAUTILUS_ZLIB_FAILED: throw Broken()
            case NAUTILUS_ZLIB_ENDED: stage = .ended
            default: break
            }
            return goesOn ? made == 65_536 : nil
        }
    }

    extension Slice<UnsafeRawBufferPointer> {
        /// Whether it begins as RFC 1950 has it; some servers send deflate without that.
        fileprivate var beginsAsZlib: Bool {
            guard let first, let second = dropFirst().first else { return (first ?? 0) & 0x0F == 8 }
            return first & 0x0F == 8 && (Int(first) << 8 | Int(second)).isMultiple(of: 31)
        }
    }
#endif
