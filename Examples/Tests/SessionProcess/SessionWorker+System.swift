import Foundation
import SessionCommands
import SystemFaults

/// A fault of the system that cannot be planned.
struct UnplannableFault: Error {}

extension SessionWorker {
    /// Has calls of the system fail, or kill the process.
    func planSystemFault(_ fault: SessionFault) throws {
        guard case .system(let call, let effect, let ending, let first, let count) = fault else { return }
        let path =
            switch ending {
            case .temporary: ".tmp"
            case .credential: ".json"
            case .lock: ".lock"
            case .end: ".ended"
            case .folder: folder
            }
        let result = system_faults_plan(call.number, path, Int32(first), Int32(count ?? -1), effect.number)
        guard result == 0 else { throw UnplannableFault() }
    }

    /// Notes calls of the system on the store's folder and what is in it, and on the folder around it.
    func watchCalls() throws {
        guard system_faults_watch(parent) == 0 else { throw UnplannableFault() }
    }

    /// The calls that were noted.
    var notedCalls: [String] {
        var path = [CChar](repeating: 0, count: 512)
        var calls: [String] = []
        while let call = SessionFault.SystemCall(number: system_faults_noted(Int32(calls.count), &path, path.count)) {
            let path = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            calls.append("\(call.rawValue) \(kind(of: path))")
        }
        return calls
    }

    /// The kind of thing at a path, in a word.
    private func kind(of path: String) -> String {
        switch path {
        case parent: "parent"
        case folder: "folder"
        default: path.split(separator: ".").last.map { ".\($0)" } ?? path
        }
    }

    private var parent: String { (folder as NSString).deletingLastPathComponent }

    /// Starts a child that inherits every open file that it can, and ends with this process's input.
    ///
    /// It returns once the child runs: `posix_spawn` alone returns a moment before the child has let go of what it must not
    /// inherit.
    func startChild() throws -> pid_t {
        let output = Pipe()
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
        var arguments: [UnsafeMutablePointer<CChar>?] = ["/bin/sh", "-c", "echo; exec cat"].map { (text: String) in
            strdup(text)
        }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        let code = posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, &environment)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EAGAIN) }
        try output.fileHandleForWriting.close()
        _ = output.fileHandleForReading.availableData
        return child
    }
}

extension SessionFault.SystemCall {
    fileprivate var number: Int32 {
        switch self {
        case .open: Int32(system_faults_open)
        case .write: Int32(system_faults_write)
        case .fsync: Int32(system_faults_fsync)
        case .rename: Int32(system_faults_rename)
        case .unlink: Int32(system_faults_unlink)
        }
    }

    fileprivate init?(number: Int32) {
        guard let call = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = call
    }
}

extension SessionFault.Effect {
    fileprivate var number: Int32 {
        switch self {
        case .killBefore: Int32(system_faults_kill_before)
        case .killAfter: Int32(system_faults_kill_after)
        case .failure(let code): code
        }
    }
}
