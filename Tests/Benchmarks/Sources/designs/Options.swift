/// The options of the command line.
struct Options {
    var printsJson = false
    var printsUsage = false
    /// The seed of latencies, of the order of tasks and of jitter.
    var seed: UInt64 = 1

    static let usage = """
        usage: swift run -c release --package-path Tests/Benchmarks designs [options]

          --seed <number>  what everything random is drawn from; 1 unless it is given
          --json           for machines, one object a line
          --help           this text

        Five token layers as people write them, and Nautilus, each through the same storms of 1000 calls in virtual time.
        It fails unless Nautilus refreshes once, and loses no call, in each storm where that is possible.
        """

    init(_ arguments: some Sequence<String>) throws(UnknownArgument) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--json": printsJson = true
            case "--help", "-h": printsUsage = true
            case "--seed":
                guard let seed = arguments.next().flatMap({ UInt64($0) }) else {
                    throw UnknownArgument(text: "--seed without number")
                }
                self.seed = seed
            default: throw UnknownArgument(text: argument)
            }
        }
    }
}

/// An unknown argument.
struct UnknownArgument: Error, CustomStringConvertible {
    let text: String
    var description: String { "unknown argument: \(text)" }
}
