import Foundation
import Nautilus

/// What this process knows of the credential that it shares with others, and what it has to tell them.
///
/// Three places hold the credential: the coordinator, which hands it to calls, the store, which other processes see, and
/// the record here, which says how the two compare. The rules between them:
/// - What is refreshed is saved before it is published. So whatever the coordinator holds, the store has, or has had;
///   unless it could not be saved, and then ``State/unsaved`` says so and memory wins until it is.
/// - What the store says is followed only if nothing has happened in the coordinator since before the look (its epoch).
///   So nothing older than what is here is ever adopted.
/// - Saving and deleting need the store's lock; looking does not.
final class SharedCredential: Sendable {
    typealias Coordinator = RefreshCoordinator<OAuthCredential>

    /// What the store does not have yet.
    enum Unsaved: Hashable, Sendable {
        /// A sign-in.
        case signIn(StoredCredential)
        /// What has become of a refresh. The store is wrong about its token: the lock is kept, so that nobody spends it.
        case renewal(StoredCredential)
        /// The end of this session; nil for whichever is stored, where it has not been read yet.
        case signOut(session: UUID?)
    }

    struct State {
        weak var coordinator: Coordinator?
        /// Whether the store has been looked at, or overruled.
        var isKnown = false
        /// The version of the store's record that is known.
        var version: CredentialVersion?
        /// The record that this process goes by; nil when nobody is signed in.
        var record: StoredCredential?
        var unsaved: Unsaved?
        /// The largest number of a session that this process has heard of.
        var lastNumber = 0
        /// Whether the last sign-in is numbered after what was stored at that time; it has to be read for that.
        var isNumbered = false
        /// The session whose tokens the server has been asked to forget last; nil for none.
        var revokedSession: UUID?
        /// The store's lock, kept while a renewal is unsaved and nobody is saving it.
        var keptLock: (any CredentialLock)?
        var isFailing = false
        var isTryingAgain = false
    }

    let store: SharedStore
    let endpoint: TokenEndpoint
    let renewal: OAuthSession.Renewal
    let state = Locked(State())
    /// Held while the state and the coordinator change together. The coordinator tells its listeners meanwhile, so nothing that
    /// they may call takes it without a suspension.
    let turn = Locked(())
    private let report: @Sendable (SessionEvent) -> Void

    init(
        store: SharedStore,
        endpoint: TokenEndpoint,
        renewal: OAuthSession.Renewal,
        report: @escaping @Sendable (SessionEvent) -> Void
    ) {
        self.store = store
        self.endpoint = endpoint
        self.renewal = renewal
        self.report = report
    }

    /// Names the coordinator, once, before anything else is asked.
    func attach(_ coordinator: Coordinator) {
        state.withLock { $0.coordinator = coordinator }
    }

    /// Tells once that the store fails, and once that it works again.
    func storeFailed(_ error: OAuthError) {
        let isNews = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        if isNews { report(.storeFailed(error)) }
    }

    func storeWorked() {
        let isNews = state.withLock { state in
            guard state.isFailing, state.unsaved == nil else { return false }
            state.isFailing = false
            return true
        }
        if isNews { report(.storeRecovered) }
    }
}
