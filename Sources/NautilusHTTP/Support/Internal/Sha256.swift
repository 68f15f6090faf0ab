/// SHA-256 (FIPS 180-4): for the challenge of a sign-in, and to name and check stored data.
///
/// Implemented here, since CryptoKit exists only on Apple's platforms and this package has no dependencies. Not for
/// passwords.
package enum Sha256 {
    /// The digest of `bytes`, 32 bytes long.
    package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        // H⁽⁰⁾ of §5.3.3: the fractions of the square roots of the first eight primes.
        let words: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        return digest(bytes, words, absorb)
    }

    /// The digest that both algorithms make, block by block (§5.1.1, §6).
    fileprivate static func digest(
        _ bytes: some Sequence<UInt8>,
        _ initial: [UInt32],
        _ absorb: (_ block: [UInt8], _ words: inout [UInt32]) -> Void
    ) -> [UInt8] {
        var words = initial
        var block: [UInt8] = []
        block.reserveCapacity(64)
        var count: UInt64 = 0
        for byte in bytes {
            block.append(byte)
            count &+= 1
            if block.count == 64 {
                absorb(block, &words)
                block.removeAll(keepingCapacity: true)
            }
        }
        // The padding: a one bit, zeros up to the last eight bytes of a block, and the length in bits.
        block.append(0x80)
        if block.count > 56 {
            absorb(block + Array(repeating: 0, count: 64 - block.count), &words)
            block.removeAll(keepingCapacity: true)
        }
        block += Array(repeating: 0, count: 56 - block.count)
        let bits = count &* 8
        block += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
        absorb(block, &words)
        return words.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    /// §6.2.2, for one block of 64 bytes.
    private static func absorb(_ block: [UInt8], into words: inout [UInt32]) {
        var schedule: [UInt32] = []
        schedule.reserveCapacity(64)
        for start in stride(from: 0, to: 64, by: 4) {
            schedule.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<64 {
            let (late, early) = (schedule[index - 2], schedule[index - 15])
            let lateSigma = late.rotated(17) ^ late.rotated(19) ^ late >> 10
            let earlySigma = early.rotated(7) ^ early.rotated(18) ^ early >> 3
            schedule.append(lateSigma &+ schedule[index - 7] &+ earlySigma &+ schedule[index - 16])
        }

        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        for index in 0..<64 {
            let sigma1 = e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)
            let sigma0 = a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)
            let choice = e & f ^ ~e & g
            let majority = a & b ^ a & c ^ b & c
            let first = h &+ sigma1 &+ choice &+ constants[index] &+ schedule[index]
            let second = sigma0 &+ majority
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= word }
    }

    /// §4.2.2: the fractions of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UInt32 {
    /// The bits rotated to the right by `count`.
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}

/// SHA-1 (FIPS 180-4): for the answer to a web socket's key, which only proves that a server speaks the protocol (RFC
/// 6455 §1.3).
///
/// Implemented here, since CryptoKit exists only on Apple's platforms and this package has no dependencies. Its
/// collision resistance has been broken since 2017: not for anything that must be secure.
package enum Sha1 {
    /// The digest of `bytes`, 20 bytes long.
    package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        // H⁽⁰⁾ of §5.3.1.
        Sha256.digest(bytes, [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0], absorb)
    }

    /// §6.1.2, for one block of 64 bytes.
    private static func absorb(_ block: [UInt8], into words: inout [UInt32]) {
        var schedule: [UInt32] = []
        schedule.reserveCapacity(80)
        for start in stride(from: 0, to: 64, by: 4) {
            schedule.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<80 {
            let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
            schedule.append(mixed.rotated(31))
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
            let next = a.rotated(27) &+ function &+ e &+ constant &+ schedule[index]
            (e, d, c, b, a) = (d, c, b.rotated(2), a, next)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { words[index] &+= word }
    }
}
