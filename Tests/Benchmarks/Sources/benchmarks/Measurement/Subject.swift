/// Something that can be done many times: the code under measurement, or the baseline beside it.
struct Subject: Sendable {
    let name: String
    /// Does it `count` times, one after the other.
    let run: @Sendable (_ count: Int) async throws -> Void

    init(_ name: String, run: @escaping @Sendable (_ count: Int) async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// A subject from doing it once; the loop's own cost counts for both sides.
    init(_ name: String, once: @escaping @Sendable () async throws -> Void) {
        self.init(name) { count in
            for _ in 0..<count { try await once() }
        }
    }

    /// The same, by `width` tasks at once.
    func atOnce(_ width: Int) -> Subject {
        Subject(name) { [run] count in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<width {
                    let share = count / width + (index < count % width ? 1 : 0)
                    group.addTask { try await run(share) }
                }
                try await group.waitForAll()
            }
        }
    }
}
