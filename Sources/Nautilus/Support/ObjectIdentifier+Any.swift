/// The identity of `value`; nil when it is no object, which has none.
func objectIdentifier(of value: Any) -> ObjectIdentifier? {
    type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject) : nil
}
