import NautilusSessions
import Testing

/// The effect of each operation in each state, for every kind of store.
@Suite("Stores: states and operations")
struct StoreTableTests {
    @Test("every state of a store has its row")
    func rows() {
        #expect(StoreTable.rows.map(\.state) == StoreState.allCases)
    }

    @Test("every state of a store loads as its row says", arguments: StoreTable.cases)
    func load(_ test: StoreTable.Case) async throws {
        let (place, row) = (try test.subject.open(), test.row)
        let other = try await place.enter(row.state)
        await expect(row.load, in: place)
        // It changes nothing.
        await expect(row.load, in: place)
        withExtendedLifetime(other) {}
    }

    @Test("every state of a store is saved over as its row says", arguments: StoreTable.cases)
    func save(_ test: StoreTable.Case) async throws {
        let (place, row) = (try test.subject.open(), test.row)
        let other = try await place.enter(row.state)
        let outcome = await outcome {
            try await place.store().save(.second, for: place.key)
            return .done
        }
        #expect(outcome == row.save)
        if row.save == .done {
            #expect(try await place.store().load(place.key) == .second)
        } else {
            await expect(row.load, in: place)
        }
        withExtendedLifetime(other) {}
    }

    @Test("every state of a store is deleted as its row says", arguments: StoreTable.cases)
    func delete(_ test: StoreTable.Case) async throws {
        let (place, row) = (try test.subject.open(), test.row)
        let other = try await place.enter(row.state)
        let outcome = await outcome {
            try await place.store().delete(place.key)
            return .done
        }
        #expect(outcome == row.delete)
        await expect(row.delete == .done ? .nothing : row.load, in: place)
        withExtendedLifetime(other) {}
    }

    @Test("every state of a store has the version that its row says", arguments: StoreTable.cases)
    func version(_ test: StoreTable.Case) async throws {
        let (place, row) = (try test.subject.open(), test.row)
        let other = try await place.enter(row.state)
        let outcome = await outcome { try await place.store().version(of: place.key) == nil ? .nothing : .version }
        #expect(outcome == row.version)
        #expect(try await place.store().version(of: place.key) == place.store().version(of: place.key))
        await expect(row.load, in: place)
        withExtendedLifetime(other) {}
    }

    @Test("every state of a store is locked as its row says", arguments: StoreTable.cases)
    func lock(_ test: StoreTable.Case) async throws {
        let (place, row) = (try test.subject.open(), test.row)
        let other = try await place.enter(row.state)
        let outcome = await outcome { try await place.store().lock(place.key) == nil ? .nothing : .lock }
        #expect(outcome == row.lock)
        await expect(row.load, in: place)
        withExtendedLifetime(other) {}
    }

    /// Expects what `load` does now.
    private func expect(_ expected: StoreTable.Outcome, in place: StorePlace) async {
        let outcome = await outcome {
            guard let stored = try await place.store().load(place.key) else { return .nothing }
            return stored == .first ? .first : .done
        }
        #expect(outcome == expected)
    }

    private func outcome(of operation: () async throws -> StoreTable.Outcome) async -> StoreTable.Outcome? {
        do {
            return try await operation()
        } catch CredentialStoreError.damaged {
            return .damaged
        } catch CredentialStoreError.foreign {
            return .foreign
        } catch CredentialStoreError.newerFormat(_, version: 7) {
            return .newer
        } catch {
            Issue.record(error)
            return nil
        }
    }
}
