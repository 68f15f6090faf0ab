import ChildProcesses
import Foundation
import Testing

@Suite(
    "A process that exits in the middle of its calls",
    .timeLimit(.minutes(10)),
    .whereAvailable,
    .enabled(if: PythonTlsServer.isAvailable, "needs Python and openssl")
)
struct ExitTests {
    @Test("a process exits with its own status, though other threads are at work over TLS")
    func exits() async throws {
        // Beside the tests, where the package's programs are built.
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appendingPathComponent("exiting-process")
        try await PythonTlsServer.run(.answers) { server in
            for count in 1...20 {
                let process = try ChildProcess(program, [server.url.absoluteString, server.root.path, "\(count * 5)"])
                process.closeInput()
                let ending = await process.ending()
                #expect(ending.code == 0, "\(ending.output) \(ending.errors)")
            }
        }
    }
}
