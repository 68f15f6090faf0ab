import Foundation
import Nautilus

/// Steps 3 to 5 of a refresh: what is sent, and what becomes of each answer.
extension SharedCredential {
    func renew(_ base: StoredCredential) async throws -> StoredCredential {
        guard case .clientCredentials(let scope) = renewal else { return try await spend(base) }
        // Nothing is spent: no note, and no harm in asking twice.
        return await saved(base.replacing(try await endpoint.clientCredentials(scope: scope)))
    }

    private func spend(_ first: StoredCredential) async throws -> StoredCredential {
        var base = first
        while true {
            base.unanswered += 1
            await mark(base)
            do throws(OAuthError) {
                return await saved(base.replacing(try await endpoint.refresh(base.credential)))
            } catch {
                // The server has not taken it: as before.
                guard error.endsSession || error.mayHaveSpent else {
                    base.unanswered -= 1
                    _ = await saved(base)
                    throw error
                }
                // Another process, one that heeds no lock, may have been quicker.
                if let successor = try await successor(of: base) {
                    if serves(successor.credential) { return successor }
                    base = successor
                    continue
                }
                if error.endsSession { throw await end(base, error) }
                // The note stays. Only the server can tell whether the token is spent, and it is asked after the cool-down.
                guard error.kind == .answerLost, isSentAgain(base) else { throw error }
                try await store.pause(beforeRetry: base.unanswered)
            }
        }
    }

    /// Whether a token whose answer was lost is sent again by the same refresh, within a server's period of grace.
    private func isSentAgain(_ record: StoredCredential) -> Bool {
        record.unanswered <= store.sharing.lostAnswerRetries
    }

    /// Notes how often the refresh token has been sent. Without the note the refresh goes on: what it prevents is rare,
    /// and a full disk is not.
    private func mark(_ record: StoredCredential) async {
        do throws(OAuthError) {
            try await save(record)
        } catch {
            storeFailed(error)
        }
    }

    /// The record, saved or, where the store fails, kept in memory: what the server has issued is never lost.
    private func saved(_ record: StoredCredential) async -> StoredCredential {
        do throws(OAuthError) {
            try await save(record)
        } catch {
            keep(record, because: error)
        }
        return record
    }

    /// What has taken the place of a record whose refresh failed; nil when nothing has.
    private func successor(of record: StoredCredential) async throws(OAuthError) -> StoredCredential? {
        let latest: StoredCredential
        do throws(OAuthError) {
            latest = try await self.latest()
        } catch  where error.kind != .superseded {
            // The store cannot be read: then what is known counts.
            return nil
        }
        return latest.credential != record.credential ? latest : nil
    }

    /// Ends the session: its tokens go from the record, if that is still the one that was tried, and other processes learn from
    /// it that the server has ended the session.
    private func end(_ tried: StoredCredential, _ error: OAuthError) async -> TerminalRefreshFailure {
        state.withLock { state in
            guard state.record?.session == tried.session else { return }
            (state.record, state.unsaved) = (nil, .signOut(session: tried.session))
        }
        do throws(OAuthError) {
            try await expire(tried)
        } catch {
            storeFailed(error)
            tryAgain()
        }
        return TerminalRefreshFailure(error.description, underlying: error)
    }
}

extension StoredCredential {
    fileprivate func replacing(_ fresh: OAuthCredential) -> StoredCredential {
        StoredCredential(session: session, number: number, credential: fresh)
    }
}

extension OAuthError {
    /// Whether the refresh token may be spent though nothing came of it: the request was sent, and no whole answer is known.
    fileprivate var mayHaveSpent: Bool {
        switch kind {
        case .answerLost: true
        case .cancelled: httpError.map { $0.delivery != .notSent } ?? false
        // A gateway has lost the answer of the server behind it.
        case .unavailable: [502, 504].contains(httpError?.status)
        case .malformedReply: httpError?.response?.isCutTokenReply ?? false
        default: false
        }
    }
}

extension HttpResponse<Data> {
    /// Whether it says that there is a token, though none can be read from it. A page of a hotel's network says no such thing.
    fileprivate var isCutTokenReply: Bool {
        (200...299).contains(status)
            && header.values(of: .contentType).first.map { type in
                ["json", "x-www-form-urlencoded"].contains { type.lowercased().contains($0) }
            } ?? false
    }
}
