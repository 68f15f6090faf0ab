#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// Decodes a body as its bytes arrive: gzip, deflate, and br and zstd if the system has their libraries.
    ///
    /// libcurl could do it, too, but takes a stream that breaks off for a complete one.
    final class ContentDecoder {
        /// The bytes are not in the announced coding.
        struct Broken: Error {}

        private enum Coding {
            case gzip
            /// The first bytes tell which of its two meanings it has.
            case deflate
            case brotli
            case zstd

            /// Whether data behind the end that begins with this byte is one more member of gzip (RFC 1952 §2.2), or a
            /// frame of zstd (RFC 8878 §3.1). Nothing else may follow.
            func mayFollow(_ byte: UInt8) -> Bool {
                switch self {
                case .gzip: byte == 0x1F
                case .zstd: byte == 0x28 || (0x50...0x5F).contains(byte)
                case .deflate, .brotli: false
                }
            }
        }

        private enum Stage {
            /// Nothing has arrived.
            case empty
            case inside
            case ended
            /// Something that is not a further member follows the end.
            case surplus
        }

        /// Whether more output is wanted.
        enum Demand {
            case more
            /// Not now.
            case later
            case never
        }

        private let coding: Coding
        /// Nil before the first byte.
        private var decoder: OpaquePointer?
        private var stage = Stage.empty
        /// How many bytes of the input that comes once more have been decoded.
        private var done = 0
        /// Whether there may be output that did not fit, even if all input has been taken.
        private var isFull = false

        /// - Parameter name: A name of RFC 9110 §8.4.1, in lower case. The result is nil for a coding that cannot be
        ///   decoded here.
        init?(_ name: String) {
            switch name {
            case "gzip", "x-gzip": coding = .gzip
            case "deflate": coding = .deflate
            case "br" where nautilus_decoder_exists(NAUTILUS_CODING_BROTLI) != 0: coding = .brotli
            case "zstd" where nautilus_decoder_exists(NAUTILUS_CODING_ZSTD) != 0: coding = .zstd
            default: return nil
            }
        }

        deinit {
            if let decoder { nautilus_decoder_destroy(decoder) }
        }

        /// Whether gzip and deflate can be decoded here.
        static let undoesGzip = nautilus_decoder_exists(NAUTILUS_CODING_GZIP) != 0

        /// The codings that can be decoded here, as a list for `Accept-Encoding`; nil if there are none. Other codings
        /// must not be asked for.
        static let accepted: String? = {
            let names = (undoesGzip ? ["gzip", "deflate"] : []) + ["br", "zstd"].filter { ContentDecoder($0) != nil }
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }()

        /// Whether nothing has arrived, or the data is complete.
        var isWhole: Bool { stage != .inside }

        /// Decodes the next bytes, and hands over the output piece by piece. A few bytes may become gigabytes, so the
        /// output is bounded by what `take` asks for, and not by the input.
        ///
        /// Bytes behind the end that begin no further member, such as a line end or zeros, are ignored, as browsers do.
        ///
        /// - Returns: What is wanted of the input: `more` if all of it has been decoded; `later` if it has to come once
        ///   more, since `take` has asked for no more now.
        /// - Throws: ``Broken``.
        func run(_ input: UnsafeRawBufferPointer, take: (UnsafeRawBufferPointer) -> Demand) throws(Broken) -> Demand {
            var rest = input.dropFirst(done)
            while !rest.isEmpty || isFull {
                if stage == .ended, let next = rest.first, !coding.mayFollow(next) { stage = .surplus }
                if stage == .surplus { break }
                switch try step(try decoder(for: rest), &rest, take) {
                case .more: continue
                case .never: return .never
                case .later:
                    guard !rest.isEmpty || isFull else { break }
                    done = input.count - rest.count
                    return .later
                }
            }
            done = 0
            return .more
        }

        private func decoder(for input: Slice<UnsafeRawBufferPointer>) throws(Broken) -> OpaquePointer {
            if stage == .ended {
                guard let decoder, nautilus_decoder_reset(decoder) != 0 else { throw Broken() }
                stage = .inside
                return decoder
            }
            stage = .inside
            if let decoder { return decoder }
            let kind =
                switch coding {
                case .gzip: NAUTILUS_CODING_GZIP
                case .deflate: input.beginsAsZlib ? NAUTILUS_CODING_ZLIB : NAUTILUS_CODING_DEFLATE
                case .brotli: NAUTILUS_CODING_BROTLI
                case .zstd: NAUTILUS_CODING_ZSTD
                }
            guard let made = nautilus_decoder_create(kind) else { throw Broken() }
            decoder = made
            return made
        }

        private func step(
            _ decoder: OpaquePointer,
            _ input: inout Slice<UnsafeRawBufferPointer>,
            _ take: (UnsafeRawBufferPointer) -> Demand
        ) throws(Broken) -> Demand {
            var (taken, made) = (input.count, 65_536)
            var state = NAUTILUS_CODING_FAILED
            let demand = withUnsafeTemporaryAllocation(byteCount: made, alignment: 1) { output in
                guard let source = UnsafeRawBufferPointer(rebasing: input).bindMemory(to: UInt8.self).baseAddress,
                    let target = output.bindMemory(to: UInt8.self).baseAddress
                else { return Demand.never }
                state = nautilus_decoder_run(decoder, source, &taken, target, &made)
                return made == 0 ? .more : take(UnsafeRawBufferPointer(rebasing: output[..<made]))
            }
            input = input.dropFirst(taken)
            switch state {
            case NAUTILUS_CODING_FAILED: throw Broken()
            case NAUTILUS_CODING_ENDED: stage = .ended
            default: break
            }
            isFull = made == 65_536 && stage == .inside
            return demand
        }
    }

    extension Slice<UnsafeRawBufferPointer> {
        /// Whether the bytes begin with the header of RFC 1950; some servers send deflate without it.
        fileprivate var beginsAsZlib: Bool {
            guard let first, let second = dropFirst().first else { return (first ?? 0) & 0x0F == 8 }
            return first & 0x0F == 8 && (Int(first) << 8 | Int(second)).isMultiple(of: 31)
        }
    }
#endif
