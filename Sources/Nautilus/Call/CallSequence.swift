/// What calls that continue one another have in common: the pages of a list, the connections of a stream, a call and what is
/// asked again in its name.
///
/// All of them belong to the environment that the first began in.
final class CallSequence: Sendable {
    private let environment = Locked<BaseUrl?>(nil)

    /// Notes where the first call goes, and looks whether every other one goes there as well.
    ///
    /// - Throws: ``EnvironmentChange``.
    func begin(_ target: CallTarget) throws(EnvironmentChange) {
        let first = environment.withLock { environment in
            let first = environment ?? target.service
            environment = first
            return first
        }
        try first.check(target.service)
    }
}
