/// The making of a guest's call: a lease that is made in it never stamps, whatever factory has wrapped its retrier.
enum GuestCall {
    @TaskLocal static var isBeingMade = false

    /// Makes a part of the call.
    static func make<Part>(_ make: () -> Part) -> Part { $isBeingMade.withValue(true, operation: make) }
}
