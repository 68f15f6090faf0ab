import SessionCommands
import Testing

/// Where on its way a refresh is killed, and what that means for the processes that come after.
struct KillStep: Sendable, CustomTestStringConvertible {
    /// The fate of the refresh token, and which side knows of it.
    enum Fate: Sendable {
        /// It was never sent.
        case unspent
        /// The server has spent it, and what it brought is lost.
        case spent
        /// The server has spent it, and what it brought is stored.
        case replaced
    }

    /// When.
    let name: String
    let fault: SessionFault
    let fate: Fate
    /// Whether the store says that the refresh token may have been sent.
    let isMarked: Bool
    /// Whether a half-finished save is left in the folder.
    let leavesFile: Bool

    var testDescription: String { name }

    /// In the order of a refresh: it saves twice, first the mark, then what the refresh has brought.
    static let all: [KillStep] = [
        KillStep("before the mark's file is created", .open(.killBefore, number: 1), .unspent),
        KillStep("in the middle of the mark's file", .write(.killAfter, number: 1), .unspent, leavesFile: true),
        KillStep("before the mark takes its place", .rename(.killBefore, number: 1), .unspent, leavesFile: true),
        KillStep("when the mark has its place", .rename(.killAfter, number: 1), .unspent, isMarked: true),
        KillStep("when the mark is safe", .synchronize(.killAfter, number: 1), .unspent, isMarked: true),
        KillStep("before the token is sent", .killBeforeSending(.refresh), .unspent, isMarked: true),
        KillStep("when the server has rotated it", .killAfterAnswer(.refresh), .spent, isMarked: true),
        KillStep("before the result's file is created", .open(.killBefore, number: 2), .spent, isMarked: true),
        KillStep(
            "in the middle of the result's file",
            .write(.killAfter, number: 2),
            .spent,
            isMarked: true,
            leavesFile: true
        ),
        KillStep(
            "before the result takes its place",
            .rename(.killBefore, number: 2),
            .spent,
            isMarked: true,
            leavesFile: true
        ),
        KillStep("when the result has its place", .rename(.killAfter, number: 2), .replaced),
        KillStep("when the result is safe", .synchronize(.killAfter, number: 2), .replaced),
        KillStep("when the result is published", .killBeforeSending(.call), .replaced),
    ]

    private init(
        _ name: String,
        _ fault: SessionFault,
        _ fate: Fate,
        isMarked: Bool = false,
        leavesFile: Bool = false
    ) {
        self.name = name
        self.fault = fault
        self.fate = fate
        self.isMarked = isMarked
        self.leavesFile = leavesFile
    }
}

extension SessionFault {
    fileprivate static func open(_ effect: Effect, number: Int) -> SessionFault {
        .system(.open, effect, on: .temporary, from: number)
    }

    fileprivate static func write(_ effect: Effect, number: Int) -> SessionFault {
        .system(.write, effect, on: .temporary, from: number)
    }

    fileprivate static func rename(_ effect: Effect, number: Int) -> SessionFault {
        .system(.rename, effect, on: .credential, from: number)
    }

    fileprivate static func synchronize(_ effect: Effect, number: Int) -> SessionFault {
        .system(.fsync, effect, on: .folder, from: number)
    }
}
