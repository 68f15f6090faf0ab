extension [UInt8] {
    /// The bytes in lower-case hexadecimal, two digits each.
    package var hexadecimal: String {
        reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}
