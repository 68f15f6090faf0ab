/// SHA-1 (FIPS 180-4): for the answer to a web socket's key, which proves that a server speaks the protocol and nothing
/// else (RFC 6455 §1.3).
///
/// Written out, since CryptoKit is Apple's alone and this package has no dependency. Broken as a signature since 2017: not
/// for anything that has to be safe.
enum Sha1 {
    /// The digest of `bytes`, 20 bytes long.
    static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        // A one bit, zeros up to the last eight bytes of a block, and the length in bits.
        var padded = Array(bytes) + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) &* 8
        padded += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
        // H⁽⁰⁾ of §5.3.1.
        var words: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for start in stride(from: 0, to: padded.count, by: 64) { absorb(padded[start..<start + 64], into: &words) }
        return words.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    /// §6.1.2, for one block of 64 bytes.
    private static func absorb(_ block: ArraySlice<UInt8>, into words: inout [UInt32]) {
        var schedule: [UInt32] = []
        schedule.reserveCapacity(80)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            schedule.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<80 {
            let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
            schedule.append(mixed.rotatedLeft(1))
        }
        var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
        for index in 0..<80 {
            let (function, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c ^ ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c ^ b & d ^ c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = a.rotatedLeft(5) &+ function &+ e &+ constant &+ schedule[index]
            (e, d, c, b, a) = (d, c, b.rotatedLeft(30), a, next)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { words[index] &+= word }
    }
}

extension UInt32 {
    fileprivate func rotatedLeft(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
