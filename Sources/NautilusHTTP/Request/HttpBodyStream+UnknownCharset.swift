extension HttpBodyStream {
    /// The error that a text is in a charset that is not read here.
    ///
    /// UTF-8, UTF-16 and windows-1252 are, which also stands for `iso-8859-1` and `us-ascii`, as in browsers. A request
    /// for another one takes the bytes, `Data`, and decodes them itself.
    public struct UnknownCharset: Error, Hashable, Sendable, CustomStringConvertible {
        /// The charset as the server has named it.
        public let charset: String

        init(_ charset: String) { self.charset = charset }

        /// A description that names the charset, without what is no part of any charset's name.
        public var description: String {
            let name = charset.unicodeScalars.prefix(40).filter { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }
            return "the text is in the charset '\(String(String.UnicodeScalarView(name)))', which is not known"
        }
    }
}
