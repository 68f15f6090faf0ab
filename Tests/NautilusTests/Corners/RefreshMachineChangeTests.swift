import Testing

@testable import Nautilus
@testable import NautilusHTTP

extension RefreshMachineTests {
    @Suite("RefreshMachine: changes by other processes")
    struct Changes {
        static let changes: [(name: String, change: SessionChange<ReceivedCredential>)] = [
            ("refreshed", .refreshed(received("e"))), ("signedIn", .signedIn(received("f"))), ("signedOut", .signedOut),
        ]

        private static func received(_ credential: String, lifetime: Duration? = nil) -> ReceivedCredential {
            ReceivedCredential(credential: CredentialBox(credential), lifetime: lifetime)
        }

        /// Every state follows every change, in their order: what is done → the state after it.
        static let table: [Start: [String]] = [
            .signedOut: [
                "refreshed: signedIn 1 → idle e1", "signedIn: signedIn 1 → idle f1", "signedOut:  → signedOut",
            ],
            .expired: [
                "refreshed: signedIn 2 → idle e2", "signedIn: signedIn 2 → idle f2",
                "signedOut:  → signedOut (expired)",
            ],
            .idle: [
                "refreshed: refreshed 2 → idle e2", "signedIn: end superseded, signedIn 2 → idle f2",
                "signedOut: end signedOut, signedOut 1 → signedOut",
            ],
            .refreshing: [
                "refreshed: cancel 1, resume e2, refreshed 2 → idle e2",
                "signedIn: end superseded, cancel 1, resume superseded, signedIn 2 → idle f2",
                "signedOut: end signedOut, cancel 1, resume signedOut, signedOut 1 → signedOut",
            ],
            .background: [
                "refreshed: cancel 1, resume e2, refreshed 2 → idle e2",
                "signedIn: end superseded, cancel 1, resume superseded, signedIn 2 → idle f2",
                "signedOut: end signedOut, cancel 1, resume signedOut, signedOut 1 → signedOut",
            ],
            .coolingDown: [
                "refreshed: resume e2, refreshed 2 → idle e2",
                "signedIn: end superseded, resume superseded, signedIn 2 → idle f2",
                "signedOut: end signedOut, resume signedOut, signedOut 1 → signedOut",
            ],
            .overdue: [
                "refreshed: resume e2, refreshed 2 → idle e2",
                "signedIn: end superseded, resume superseded, signedIn 2 → idle f2",
                "signedOut: end signedOut, resume signedOut, signedOut 1 → signedOut",
            ],
        ]

        @Test("every state follows as the table says", arguments: Start.allCases)
        func follows(start: Start) {
            for (row, (name, change)) in Self.changes.enumerated() {
                var (machine, now) = RefreshMachineTests.machine(start)
                let actions = machine.handle(.adopt(change), at: now)
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
            let expired = SessionChange.refreshed(Self.received("e", lifetime: .zero))
            let actions = machine.handle(.adopt(expired), at: now)
            #expect(list(actions) == "refreshed 2")
            #expect(machine.state.held?.versioned.generation == 2)
            #expect((machine.nextStart, machine.state.failures) == before)
        }

        @Test(
            "where nobody is signed in, the session that calls have already begins with the end that is heard of",
            arguments: [Start.signedOut, .expired],
            [false, true]
        )
        func beginning(start: Start, isExpiry: Bool) {
            var (machine, now) = RefreshMachineTests.machine(start)
            let (before, ahead) = (machine.session, CallSession())
            let change: SessionChange<ReceivedCredential> =
                isExpiry ? .expired(RefreshError.Terminal("over")) : .signedOut
            let actions =
                machine.handle(.adopt(change), at: now) + machine.handle(.adopt(change, beginning: ahead), at: now)
            #expect(list(actions).isEmpty)
            #expect(machine.session === ahead)
            #expect((before.end == nil, ahead.end == nil) == (true, true))
            // It is of that change only.
            _ = machine.handle(.signIn(CredentialBox("g"), lifetime: nil), at: now)
            #expect(machine.session !== ahead)
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
