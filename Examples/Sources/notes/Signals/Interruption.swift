import Foundation

/// An action to run on Ctrl-C and on `SIGTERM` in place of a sudden end.
struct Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over, until ``end()``.
    ///
    /// - Parameter handler: Called for the first signal; the next one ends the process at once.
    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                handler()
            }
            source.resume()
            return source
        }
    }

    /// Gives the signals back.
    func end() {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
