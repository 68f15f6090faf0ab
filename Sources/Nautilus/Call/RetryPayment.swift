/// The permits for the retries of one call.
struct RetryPayment {
    /// The permit for the attempt that comes next, or is under way and has sent nothing; nil when it is free, or paid.
    var due: RetryPermit?
    /// The failure that it follows.
    var failure: HttpError?
    /// The permit of the last retry or second send that was sent, of each budget that has paid for one.
    private(set) var used: [RetryPermit] = []

    /// Pays for the send that begins now.
    ///
    /// - Throws: The failure before, when the permit was shared by calls that were given one answer, another of them
    ///   has used it, and the budget does not pay again.
    mutating func pay() throws(HttpError) {
        guard let permit = due else { return }
        due = nil
        guard permit.use() else {
            guard var failure else { return }
            // The retrier is asked once more, and pays for itself from here on.
            failure.sharedAnswer = nil
            throw failure
        }
        note(permit)
    }

    /// Takes note of a permit that was used; that of a second send is at once.
    mutating func note(_ permit: RetryPermit) {
        used.removeAll { $0.budget === permit.budget }
        used.append(permit)
    }
}
