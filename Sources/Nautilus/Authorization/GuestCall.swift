/// Marks the construction of a guest's call: a lease created in it never stamps, whatever factory wraps its retrier.
enum GuestCall {
    @TaskLocal static var isBeingMade = false

    /// Creates a part of the call.
    static func make<Part>(_ make: () -> Part) -> Part { $isBeingMade.withValue(true, operation: make) }
}
