/// A path by which something may leave the device.
package struct NWPath: Sendable {
    /// Whether it can be used.
    package enum Status: Sendable {
        case satisfied
        case unsatisfied
        /// It may be once something asks for it.
        case requiresConnection
    }

    package let status: Status
}
