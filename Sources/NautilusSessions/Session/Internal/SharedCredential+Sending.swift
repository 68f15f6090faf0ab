import Foundation
import Nautilus

/// Steps 3 to 5 of a refresh: sends the credential, and acts on each answer.
extension SharedCredential {
    /// - Parameters:
    ///   - lock: The store's lock.
    ///   - watch: Has been running since the refresh began.
    func refresh(_ base: Record, _ lock: any CredentialLock, _ watch: Stopwatch) async throws -> Record {
        guard rules.spendsCredential else { return try await repeatable(base, lock) }
        let unsent = base
        var base = base
        var isFirst = true
        while true {
            base.unanswered += 1
            await mark(base, lock)
            // If the note was not saved, the user has signed out meanwhile in another process.
            if state.withLock({ !$0.isKnown }) { _ = try await successor(of: base) }
            // The store took so long, writing the note included, that the refresh may be cancelled before the answer
            // arrives. The answer would be lost, and the credential with it.
            if isFirst, watch.elapsed > timeLimit / 2 {
                _ = await saved(unsent, lock)
                throw SessionError(.storeTimeout(store.limit))
            }
            isFirst = false
            // Since it was lost, perhaps while the note was being written, another process may be sending the credential,
            // or have ended the session.
            guard lock.isHeld else { throw SessionError(.lockLost) }
            let fresh: Record?
            do {
                fresh = try await refreshed(base)
            } catch {
                let failure = rules.classify(error)
                // The server has not accepted it, so the count goes back.
                guard failure != .notRefreshed else {
                    base.unanswered -= 1
                    _ = await saved(base, lock)
                    throw error
                }
                // Another process that ignores the lock may have been quicker.
                if let successor = try await successor(of: base) {
                    if serves(successor) { return successor }
                    base = successor
                    continue
                }
                if failure == .ended { throw await end(base, error, lock) }
                // The note stays. Only the server can tell whether the credential is spent; it is asked after the
                // cool-down.
                guard failure == .answerLost, isSentAgain(base) else { throw error }
                try await store.pause(beforeRetry: base.unanswered)
                continue
            }
            guard let fresh else { throw SessionError(.superseded) }
            return await saved(fresh, lock)
        }
    }

    /// Refreshes a credential that is not spent by it: no note is needed, and asking twice does no harm.
    private func repeatable(_ base: Record, _ lock: any CredentialLock) async throws -> Record {
        let fresh: Record?
        do {
            fresh = try await refreshed(base)
        } catch {
            guard rules.classify(error) == .ended else { throw error }
            throw await end(base, error, lock)
        }
        guard let fresh else { throw SessionError(.superseded) }
        return await saved(fresh, lock)
    }

    /// Whether the same refresh sends a credential again after a lost answer, within a server's grace period.
    private func isSentAgain(_ record: Record) -> Bool {
        record.unanswered <= store.sharing.lostAnswerRetries
    }

    /// Notes how often the credential has been sent. If the note cannot be written, the refresh goes on: the harm that
    /// the note prevents is rare, and a full disk is not.
    private func mark(_ record: Record, _ lock: any CredentialLock) async {
        // No other process knows the credential of an unsaved sign-in.
        guard !replaceSignIn(by: record) else { return }
        do throws(SessionError) {
            try await save(record, under: lock)
        } catch {
            // Without the lock nothing is sent either.
            if error.kind != .lockLost { storeFailed(error) }
        }
    }

    /// The record, saved or, if the store fails, kept in memory: what the server has issued is never lost.
    private func saved(_ record: Record, _ lock: any CredentialLock) async -> Record {
        do throws(SessionError) {
            if replaceSignIn(by: record) {
                try await saveSignIn(record.session, under: lock)
            } else {
                try await save(record, under: lock)
            }
        } catch  where error.kind == .lockLost {
            // The session may be over by now, or another process may have written: take the lock again and look at the
            // store.
            keep(record)
            state.withLock { $0.hasLostLock = true }
            _ = try? await write()
        } catch {
            keep(record, isStored: error.kind.isOfDurability)
            storeFailed(error)
            tryAgain()
        }
        return record
    }

    /// Lets a refreshed credential take the place of the sign-in's own, if the sign-in is still unsaved.
    ///
    /// - Returns: False when the sign-in has been saved already, and nothing is replaced.
    private func replaceSignIn(by record: Record) -> Bool {
        state.withLock { state in
            guard case .signIn(let signIn) = state.unsaved, signIn.session == record.session else { return false }
            (state.record, state.unsaved) = (record, .signIn(record))
            return true
        }
    }

    /// The successor in the store of a credential whose refresh failed; nil when there is none.
    ///
    /// - Throws: ``SessionError/Kind/superseded``; also the store's error for a successor that only another version of
    ///   the app, or another key, can read, since the session goes on there.
    private func successor(of record: Record) async throws(SessionError) -> Record? {
        let latest: Record
        do throws(SessionError) {
            latest = try await self.latest(after: record.credential)
        } catch  where ![.superseded, .cancelled].contains(error.kind) && !error.isOfAnother {
            // If the store cannot be read, the known state counts.
            return nil
        }
        return latest.credential != record.credential ? latest : nil
    }

    /// Ends the session. If the record still has the credential that was tried, the credential is removed from it, and
    /// other processes learn from the record that the server has ended the session.
    private func end(
        _ tried: Record,
        _ error: any Error,
        _ lock: any CredentialLock
    ) async -> RefreshError.Terminal {
        let failure =
            error as? RefreshError.Terminal
            ?? RefreshError.Terminal("the server has refused to refresh the credential", underlying: error)
        // A sign-in that has not read the store yet is not stored, so its end concerns nobody else; but the user whom
        // it would have replaced must not reappear.
        let replacesUnknown = state.withLock { state in
            guard state.record?.session == tried.session else { return false }
            let isUnsaved = if case .signIn = state.unsaved { true } else { false }
            let replacesUnknown = isUnsaved && !state.isNumbered && state.replacesUnknown
            (state.record, state.unsaved) = (nil, replacesUnknown ? .signOut(.stored) : .expiry(tried))
            state.failure = failure
            // Another process may have refreshed the session since.
            state.over[tried.session] = tried.refreshCount
            return replacesUnknown
        }
        tellEnds()
        do throws(SessionError) {
            if replacesUnknown { try await remove(.stored, under: lock) } else { try await expire(tried, under: lock) }
        } catch {
            storeFailed(error)
            tryAgain()
        }
        return failure
    }
}

extension SessionError {
    /// Whether the store has a credential that only another version of the app, or another key, can read.
    fileprivate var isOfAnother: Bool {
        switch kind {
        case .store(.undecodable), .store(.sealedOtherwise): true
        default: false
        }
    }
}
