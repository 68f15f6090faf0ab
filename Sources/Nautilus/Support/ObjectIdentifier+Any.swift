extension ObjectIdentifier {
    /// The identity of a value of any type; nil when it is no object, and has none.
    init?(ofAny value: Any) {
        guard type(of: value) is AnyClass else { return nil }
        self.init(value as AnyObject)
    }
}
