#if os(Linux)
    import Foundation
    import NautilusHTTP

    /// Undoes the codings of a body, one after the other, as its bytes arrive.
    final class ContentDecoders {
        /// The most codings of one body, as many as libcurl and browsers undo.
        static let limit = 5

        private let first: ContentDecoder
        /// The codings that were applied before; nil for none.
        private let rest: ContentDecoders?
        /// The output of `first` that `rest` has not taken all of.
        private var pending = Data()
        /// How many bytes of the input that comes once more have become output of `first` for good.
        private var done = 0

        /// - Parameter codings: Names of RFC 9110 §8.4.1 in lower case, the coding that was applied last first. The
        ///   result is nil for none, and if one of them cannot be decoded here.
        convenience init?(_ codings: [String]) {
            self.init(codings[...])
        }

        private init?(_ codings: ArraySlice<String>) {
            guard let name = codings.first, let first = ContentDecoder(name) else { return nil }
            self.first = first
            let others = codings.dropFirst()
            guard let rest = ContentDecoders(others) else {
                guard others.isEmpty else { return nil }
                self.rest = nil
                return
            }
            self.rest = rest
        }

        /// Whether nothing has arrived, or the data is complete.
        var isWhole: Bool { first.isWhole && pending.isEmpty && rest?.isWhole != false }

        /// Decodes the next bytes; see ``ContentDecoder/run(_:take:)``.
        func run(
            _ input: UnsafeRawBufferPointer,
            take: (UnsafeRawBufferPointer) -> ContentDecoder.Demand
        ) throws(ContentDecoder.Broken) -> ContentDecoder.Demand {
            guard let rest else { return try first.run(input, take: take) }
            if !pending.isEmpty {
                let demand = try Self.run(rest, pending, take: take)
                guard demand == .more else { return demand }
                pending = Data()
            }
            var isBroken = false
            let part = UnsafeRawBufferPointer(rebasing: input.dropFirst(done))
            let demand = try first.run(part) { piece in
                do throws(ContentDecoder.Broken) {
                    let demand = try rest.run(piece, take: take)
                    if demand == .later { pending = Data(piece) }
                    return demand
                } catch {
                    isBroken = true
                    return .never
                }
            }
            if isBroken { throw ContentDecoder.Broken() }
            guard demand == .more, !pending.isEmpty else {
                if demand == .more { done = 0 }
                return demand
            }
            // All of the input has been taken, but what was made of it has not.
            done = input.count
            return .later
        }

        private static func run(
            _ decoders: ContentDecoders,
            _ bytes: Data,
            take: (UnsafeRawBufferPointer) -> ContentDecoder.Demand
        ) throws(ContentDecoder.Broken) -> ContentDecoder.Demand {
            let demand = bytes.withUnsafeBytes { bytes in
                Result { () throws(ContentDecoder.Broken) in try decoders.run(bytes, take: take) }
            }
            return try demand.get()
        }
    }
#endif
