/// The sessions in which a call was bound: those of its service's credentials; none without credentials.
///
/// The first of them that is over ends whatever continues the call, such as the next page of a list or the messages of
/// an open connection, so that nothing that one user has begun reaches the next.
public struct CallSessions: Sendable {
    let list: [CallSession]

    /// The sessions of credentials, without those that belong to nobody's session.
    init(of credentials: [any CallCredential]) {
        var list: [CallSession] = []
        for credential in credentials {
            let session = credential.session
            if session !== CallSession.unending { list.append(session) }
        }
        self.list = list
    }

    /// Whether there is none, so that nothing ends.
    public var isEmpty: Bool { list.isEmpty }

    /// The failure of whatever continues the call once a session is over, with the ``RefreshError`` underneath that says
    /// how it has ended; nil while all go on.
    public var end: HttpError? {
        list.end.map { HttpError(wrapping: $0, stage: .prepare, delivery: .notSent) }
    }

    /// Begins to look whether one has been ended elsewhere. To be called when messages are sent or received over an open
    /// connection; calls look by themselves.
    public func look() {
        for session in list { session.look() }
    }

    /// Returns when one is over, and when the task is cancelled; at once when there is none.
    public func waitForEnd() async {
        if list.count == 1 { return await list[0].waitForEnd() }
        await withTaskGroup(of: Void.self) { group in
            for session in list { group.addTask { await session.waitForEnd() } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for something that continues the call, such as the next part of a stream, no longer than the sessions last.
    /// Unlike the waits on a call's own path, it drops a value that comes in spite of the end.
    ///
    /// - Throws: The error of `work`; ``end`` when a session is over, even if `work` has returned a value.
    public func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let value: Value
        do {
            value = try await list.wait(work)
        } catch {
            if error is RefreshError, let end { throw end }
            throw error
        }
        if let end { throw end }
        return value
    }
}
