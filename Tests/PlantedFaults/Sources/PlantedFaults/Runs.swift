import Foundation
import Synchronization

/// What the tests made of a fault.
enum Outcome: Equatable {
    case noticed(by: String)
    case notNoticed(String)

    var isNoticed: Bool {
        if case .noticed = self { true } else { false }
    }
}

/// Runs the tests of the copy.
struct Runs: Sendable {
    let tests: URL
    let folder: URL
    /// A test has to fail by itself, not by somebody's patience. None of those named takes more than ten seconds.
    var limit = 60.0
    var atATime = 2

    /// Fails unless each suite has tests, which pass without a fault.
    func checkSuites(of faults: [Fault]) throws {
        let outputs = concurrently(Set(faults.flatMap(\.suites)).sorted()) { suite -> String? in
            let (status, output) = runTests([suite], fault: 0)
            if output.contains("run with 0 tests") { return "error: there is no test of \(suite)" }
            return status == 0 ? nil : "\(output)\nerror: tests of \(suite) fail without a fault"
        }
        if let complaint = outputs.compactMap(\.self).first { throw Complaint(description: complaint) }
    }

    /// The outcomes in the order of the faults; says each as it comes.
    func outcomes(of faults: [Fault]) -> [Outcome] {
        concurrently(faults) { fault in
            let outcome = outcome(of: fault)
            switch outcome {
            case .noticed(let test): say("noticed      \(fault) (\(test))")
            case .notNoticed(let how): say("NOT NOTICED  \(fault) (\(how))")
            }
            return outcome
        }
    }

    private func outcome(of fault: Fault) -> Outcome {
        let (status, output) = runTests(fault.suites, fault: fault.number)
        if let failed = output.firstMatch(of: #/✘ Test (.+?) (?:with \d+ test cases )?(?:recorded|failed)/#) {
            return .noticed(by: String(failed.1))
        }
        guard let status else { return .notNoticed("no test failed within \(Int(limit)) s") }
        return status == 0 ? .notNoticed("no test failed") : .noticed(by: "a trap")
    }

    /// - Returns: No status when the time is over.
    private func runTests(_ suites: [String], fault: Int) -> (status: Int32?, output: String) {
        // Fuzzers take seconds, and are not what notices a certain fault.
        var arguments = [tests.path, "--testing-library", "swift-testing", "--skip", "[Ff]uzz"]
        for suite in suites { arguments += ["--filter", "[./]\(suite)/"] }
        // A loop without an end must not take all memory, and a trap need not tell where it was.
        let script = #"ulimit -c 0; ulimit -v 12000000 2>/dev/null; exec "$@""#
        var environment = ProcessInfo.processInfo.environment
        environment["NAUTILUS_PLANTED_FAULT"] = String(fault)
        environment["NO_COLOR"] = "1"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        do {
            return try run(["sh", "-c", script, "sh"] + arguments, in: folder, environment: environment, limit: limit)
        } catch {
            return (0, "\(error)")
        }
    }

    private func concurrently<Element: Sendable, Result: Sendable>(
        _ elements: [Element],
        _ work: @Sendable (Element) -> Result
    ) -> [Result] {
        let state = Mutex((next: 0, results: [Int: Result]()))
        DispatchQueue.concurrentPerform(iterations: atATime) { _ in
            while true {
                let index = state.withLock { state in
                    state.next += 1
                    return state.next - 1
                }
                guard index < elements.count else { return }
                let result = work(elements[index])
                state.withLock { $0.results[index] = result }
            }
        }
        return state.withLock { state in elements.indices.compactMap { state.results[$0] } }
    }
}

/// Runs a command; no status when it takes longer than the limit, in seconds, and is ended.
func run(
    _ command: [String],
    in folder: URL? = nil,
    environment: [String: String]? = nil,
    limit: Double? = nil
) throws -> (status: Int32?, output: String) {
    // Not a pipe: what the command has started would keep it open.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("planted-fault-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = folder
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: file)
    process.standardError = process.standardOutput
    let hasEnded = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in hasEnded.signal() }
    try process.run()
    let isInTime = hasEnded.wait(timeout: limit.map { .now() + $0 } ?? .distantFuture) == .success
    if !isInTime {
        kill(process.processIdentifier, SIGKILL)
        hasEnded.wait()
    }
    let output = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
    return (isInTime ? process.terminationStatus : nil, output)
}

/// Runs a command that has to succeed.
func run(_ command: String...) throws -> (status: Int32?, output: String) {
    let result = try run(command)
    guard result.status == 0 else { throw Complaint(description: "\(result.output)\nerror: \(command[0]) failed") }
    return result
}

/// Prints at once, also where the output is a file.
func say(_ text: some CustomStringConvertible) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}
