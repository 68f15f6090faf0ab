/// The commands for a process, one line of JSON each; it answers each with a ``SessionOutcome``.
public enum SessionCommand: Codable, Sendable {
    /// Asks the server for notes, as the user who is signed in.
    case call
    /// Gets a credential that serves, and sends nothing with it.
    case credential
    /// Begins a session.
    case signIn(SessionTokens)
    /// Ends the session.
    case signOut
    /// Saves what could not be saved.
    case flush
    /// Takes the store's lock, and keeps it.
    case holdLock
    /// Starts a child that inherits all it can and lives as long as this process's input is open; answered with its
    /// process identifier.
    case startChild
    /// Waits for an event of the session: one of the names in ``SessionOutcome/events``.
    case awaitEvent(String)
    /// Plans a fault.
    case plan(SessionFault)
    /// Forgets all faults that are planned.
    case mend
    /// Notes the calls of the system that change the store, from now on.
    case watch
    /// Answered with the calls that were noted since ``watch``.
    case tellCalls
}
