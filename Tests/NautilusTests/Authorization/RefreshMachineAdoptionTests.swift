import Testing

@testable import Nautilus

extension RefreshMachineTests {
    @Suite("RefreshMachine: what other processes have done")
    struct Adoption {
        static let adoptions: [(name: String, adoption: Machine.Adoption)] = [
            ("replacement", .replacement(CredentialBox("e"), lifetime: nil)),
            ("session", .session(CredentialBox("f"), lifetime: nil)),
            ("nothing", .nothing),
        ]

        /// Every state follows every adoption, in their order: what is done → the state after it.
        static let table: [Start: [String]] = [
            .signedOut: [
                "replacement: signedIn 1 → idle e1", "session: signedIn 1 → idle f1", "nothing:  → signedOut",
            ],
            .expired: [
                "replacement: signedIn 2 → idle e2", "session: signedIn 2 → idle f2", "nothing:  → signedOut (expired)",
            ],
            .idle: [
                "replacement: refreshed 2 → idle e2", "session: signedIn 2 → idle f2",
                "nothing: signedOut 1 → signedOut",
            ],
            .refreshing: [
                "replacement: cancel 1, resume e2, refreshed 2 → idle e2",
                "session: cancel 1, resume superseded, signedIn 2 → idle f2",
                "nothing: cancel 1, resume superseded, signedOut 1 → signedOut",
            ],
            .background: [
                "replacement: cancel 1, resume e2, refreshed 2 → idle e2",
                "session: cancel 1, resume superseded, signedIn 2 → idle f2",
                "nothing: cancel 1, resume superseded, signedOut 1 → signedOut",
            ],
            .coolingDown: [
                "replacement: resume e2, refreshed 2 → idle e2", "session: resume superseded, signedIn 2 → idle f2",
                "nothing: resume superseded, signedOut 1 → signedOut",
            ],
            .overdue: [
                "replacement: resume e2, refreshed 2 → idle e2", "session: resume superseded, signedIn 2 → idle f2",
                "nothing: resume superseded, signedOut 1 → signedOut",
            ],
        ]

        @Test("every state follows as the table says", arguments: Start.allCases)
        func follows(start: Start) {
            for (row, (name, adoption)) in Self.adoptions.enumerated() {
                var (machine, now) = RefreshMachineTests.machine(start)
                let actions = machine.handle(.adopt(adoption, since: machine.epoch), at: now)
                let found = "\(name): \(list(actions)) → \(summary(machine.state))"
                #expect(found == Self.table[start]?[row])
            }
        }

        @Test(
            "a credential that has expired takes its place in a cool-down, which goes on",
            arguments: [Start.coolingDown, .overdue]
        )
        func expired(start: Start) {
            var (machine, now) = RefreshMachineTests.machine(start)
            let before = (machine.nextStart, machine.state.failures)
            let expired = Machine.Adoption.replacement(CredentialBox("e"), lifetime: .zero)
            let actions = machine.handle(.adopt(expired, since: machine.epoch), at: now)
            #expect(list(actions) == "refreshed 2")
            #expect(machine.state.session?.grant.generation == 2)
            #expect((machine.nextStart, machine.state.failures) == before)
        }

        @Test("no state follows what was looked at before something happened here", arguments: Start.allCases)
        func isLate(start: Start) {
            for (_, adoption) in Self.adoptions {
                var (machine, now) = RefreshMachineTests.machine(start)
                let before = summary(machine.state)
                #expect(machine.handle(.adopt(adoption, since: machine.epoch - 1), at: now).isEmpty)
                #expect(summary(machine.state) == before)
            }
        }

        @Test("the epoch counts sign-ins, sign-outs, new credentials and the end of a session, and nothing else")
        func epoch() {
            let counted: Set = ["sign in", "sign out", "replace present", "success", "terminal"]
            for (name, input) in RefreshMachineTests.inputs {
                var (machine, now) = RefreshMachineTests.machine(.refreshing)
                let before = machine.epoch
                _ = machine.handle(input, at: now)
                #expect(machine.epoch - before == (counted.contains(name) ? 1 : 0), "\(name)")
            }
        }

        private func list(_ actions: [Machine.Action]) -> String { RefreshMachineTests.list(actions) }
        private func summary(_ state: RefreshState) -> String { RefreshMachineTests.summary(state) }
    }
}
