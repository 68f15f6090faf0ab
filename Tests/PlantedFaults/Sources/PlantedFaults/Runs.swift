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
    let survivors: Survivors
    /// A test has to fail by itself, not by somebody's patience. None of those named takes more than ten seconds.
    var limit = 60.0
    /// The limit for a fault that may survive, as a loop without an end does.
    var limitOfSurvivors = 10.0
    var atATime = max(2, ProcessInfo.processInfo.activeProcessorCount)

    /// Fails unless each suite has tests, which pass without a fault.
    func checkSuites(of faults: [Fault]) throws {
        let suites = Set(faults.flatMap(\.suites)).sorted()
        let names = try run(tests.path, "--testing-library", "swift-testing", "--list-tests").output
        for suite in suites where !names.contains(".\(suite)/") && !names.contains("/\(suite)/") {
            throw Complaint(description: "error: there is no test of \(suite)")
        }
        let (status, output) = runTests(suites, fault: 0, limit: 600)
        if status != 0 { throw Complaint(description: "\(output)\nerror: tests fail without a fault") }
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
        let limit = survivors.allow(fault) ? limitOfSurvivors : limit
        let (status, output) = runTests(fault.suites, fault: fault.number, limit: limit)
        if let failed = failedTest(in: output) { return .noticed(by: failed) }
        guard let status else { return .notNoticed("no test failed within \(Int(limit)) s") }
        return status == 0 ? .notNoticed("no test failed") : .noticed(by: "a trap")
    }

    private func failedTest(in output: String) -> String? {
        output.firstMatch(of: #/✘ Test (.+?) (?:with \d+ test cases )?(?:recorded|failed)/#).map { String($0.1) }
    }

    /// With a fault it ends with the first test that fails.
    ///
    /// - Returns: No status when it was ended, since a test has failed, or the time is over.
    private func runTests(_ suites: [String], fault: Int, limit: Double) -> (status: Int32?, output: String) {
        // Fuzzers take seconds, and are not what notices a certain fault.
        var arguments = [tests.path, "--testing-library", "swift-testing", "--quiet", "--skip", "[Ff]uzz"]
        for suite in suites { arguments += ["--filter", "[./]\(suite)/"] }
        // A loop without an end must not take all memory, and a trap need not tell where it was.
        let script = #"ulimit -c 0; ulimit -v 12000000 2>/dev/null; exec "$@""#
        var environment = ProcessInfo.processInfo.environment
        environment["NAUTILUS_PLANTED_FAULT"] = String(fault)
        environment["NO_COLOR"] = "1"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        let command = ["sh", "-c", script, "sh"] + arguments
        do {
            return try run(command, in: folder, environment: environment, limit: limit) { output in
                fault > 0 && failedTest(in: output) != nil
            }
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

/// Runs a command.
///
/// - Parameters:
///   - limit: The longest time, in seconds, after which it is ended.
///   - isEnough: Asked about the output now and then; it is ended, too, when there is enough.
/// - Returns: No status when it was ended.
func run(
    _ command: [String],
    in folder: URL? = nil,
    environment: [String: String]? = nil,
    limit: Double = .infinity,
    until isEnough: ((_ output: String) -> Bool)? = nil
) throws -> (status: Int32?, output: String) {
    // Not a pipe: what the command has started would keep it open.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("planted-fault-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    func output() -> String { String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self) }
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
    let start = ContinuousClock.now
    while hasEnded.wait(timeout: .now() + 0.1) == .timedOut {
        guard start.duration(to: .now) / .seconds(1) >= limit || isEnough?(output()) == true else { continue }
        kill(process.processIdentifier, SIGKILL)
        hasEnded.wait()
        return (nil, output())
    }
    return (process.terminationStatus, output())
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
