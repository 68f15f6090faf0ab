import Foundation
import Nautilus

/// One user's session, shared with other processes by a file: written as a user of the framework would, with its public
/// interface alone.
///
/// Each process has one of these on the same file. Before each use it looks what the others have done; a refresh takes the
/// file's lock, looks again, sends only a token that no other process has refreshed meanwhile, and saves what that brings.
final class FileSession: CredentialSource {
    typealias Credential = SessionRecord

    private let file: SessionFile
    private let clock: any Clock<Duration>
    private let coordinator: RefreshCoordinator<SessionRecord>

    /// - Parameter refresh: The request to the token endpoint.
    init(
        _ file: SessionFile,
        clock: any Clock<Duration>,
        refresh: @escaping @Sendable (SessionRecord) async throws -> SessionRecord
    ) {
        self.file = file
        self.clock = clock
        self.coordinator = RefreshCoordinator(clock: clock) { tried in
            try await file.withLock(on: clock) {
                // Another process has ended the session: the next look follows it.
                guard let stored = try file.load(), stored.session == tried.session else { throw SessionIsOver() }
                // Another process has refreshed while this one waited for the lock.
                guard stored == tried else { return stored }
                let fresh = try await refresh(stored)
                try file.save(fresh)
                return fresh
            }
        }
    }

    /// Authorizes the calls of a service, and is their gate.
    var retrierFactory: any RetrierFactory {
        .composed(
            authorization { record, request in
                request.header[.authorization] = "Bearer \(record.accessToken)"
            },
            BackoffRetrier.factory(.standard.with { $0.gate = coordinator })
        )
    }

    /// Asked when a call begins: a user who has signed in elsewhere by then is its user, and one who does so later is not.
    var session: CallSession {
        try? follow()
        return coordinator.session
    }

    func serves(_ session: CallSession) -> Bool { coordinator.serves(session) }

    func usable(
        in session: CallSession,
        for origin: HttpOrigin
    ) throws -> RefreshCoordinator<SessionRecord>.VersionedCredential? {
        try follow()
        return try coordinator.usable(in: session, for: origin)
    }

    func ready(in session: CallSession) async throws {
        try follow()
        try await coordinator.ready(in: session)
    }

    func refresh(rejecting tag: CredentialTag) async throws -> CredentialTag {
        try follow()
        return try await coordinator.refresh(rejecting: tag)
    }

    /// Begins a session: in the file, and so in every process, this one included.
    func signIn(_ record: SessionRecord) async throws {
        try await file.withLock(on: clock) { try file.save(record) }
        try follow()
    }

    /// Ends the session, in the same way.
    func signOut() async throws {
        try await file.withLock(on: clock) { try file.save(nil) }
        try follow()
    }

    /// Does what other processes have done.
    private func follow() throws {
        while true {
            // Before the look, so that what is adopted is never older than what is here.
            let epoch = coordinator.epoch
            guard let change = change(to: try file.load(), from: coordinator.current?.credential) else { return }
            if coordinator.adopt(change, since: epoch) { return }
        }
    }

    private func change(to stored: SessionRecord?, from here: SessionRecord?) -> SessionChange<SessionRecord>? {
        if stored == here { return nil }
        guard let stored else { return .signedOut }
        return stored.session == here?.session ? .refreshed(stored) : .signedIn(stored)
    }
}

/// The session that was refreshed has been ended by another process.
private struct SessionIsOver: RefreshFailure {
    var isTransient: Bool { false }
    var retryAfter: Duration? { nil }
}

/// The content of the file.
struct SessionRecord: Codable, Hashable, Sendable {
    /// Drawn at the sign-in, and kept by every refresh: it tells another's refresh from another's sign-in.
    let session: UUID
    var accessToken: String
    var refreshToken: String
}

/// A file that processes share, and its lock, which the system frees when a process ends.
struct SessionFile: Sendable {
    let url: URL

    func load() throws -> SessionRecord? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try JSONDecoder().decode(SessionRecord.self, from: Data(contentsOf: url))
    }

    /// Saves, with the lock held; nil removes.
    func save(_ record: SessionRecord?) throws {
        guard let record else { return (try? FileManager.default.removeItem(at: url)) ?? () }
        try JSONEncoder().encode(record).write(to: url, options: .atomic)
    }

    /// Runs `body` while no other process does.
    func withLock<Value>(on clock: any Clock<Duration>, _ body: () async throws -> Value) async throws -> Value {
        // A child that is started meanwhile must not hold the lock for as long as it runs.
        let descriptor = open(url.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 { try await clock.sleep(for: .milliseconds(10)) }
        return try await body()
    }
}
