/// Marks the construction of a guest's call, made by ``HttpService/signedOut`` or by a request with
/// ``Request/isForGuests``: a ``CredentialLease`` created in it never stamps, whatever factory wraps its retrier.
///
/// ``RetrierFactory/signedOut`` already leaves out the retriers that authorize. A factory of one's own may not know of
/// it, though, and a guest's request must never carry a user's credential.
enum GuestCall {
    /// Whether the current task is making the retrier of a guest's call.
    @TaskLocal static var isBeingMade = false

    /// Creates a part of the call.
    ///
    /// - Parameter make: Creates the part, such as the call's retrier.
    static func make<Part>(_ make: () -> Part) -> Part { $isBeingMade.withValue(true, operation: make) }
}
