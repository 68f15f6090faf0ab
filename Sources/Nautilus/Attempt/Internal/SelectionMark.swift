/// An environment of a switch; equal only to itself.
final class SelectionMark: Sendable, Hashable {
    static func == (left: SelectionMark, right: SelectionMark) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
