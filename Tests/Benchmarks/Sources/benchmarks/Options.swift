/// The options of the command line.
struct Options {
    var effort = Effort.full
    /// Only rows whose group or name contains this text, whatever the case; nil for all.
    var filter: String?
    var printsJson = false
    var printsUsage = false

    static let usage = """
        usage: swift run -c release --package-path Tests/Benchmarks benchmarks [options]

          --quick          a few seconds, to see that everything runs; full runs take about a minute
          --filter <text>  only rows whose group or name contains the text
          --json           for machines, one array of rows
          --help           this text

        Every ratio compares with a baseline measured in the same run; less is better.
        """

    init(_ arguments: some Sequence<String>) throws(UnknownArgument) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--quick": effort = .quick
            case "--json": printsJson = true
            case "--help", "-h": printsUsage = true
            case "--filter":
                guard let text = arguments.next() else { throw UnknownArgument(text: "--filter without text") }
                filter = text
            default: throw UnknownArgument(text: argument)
            }
        }
    }

    func wants(_ measurable: any Measurable) -> Bool {
        guard let filter = filter?.lowercased() else { return true }
        return [measurable.group, measurable.name].contains { $0.lowercased().contains(filter) }
    }
}

/// An unknown argument.
struct UnknownArgument: Error, CustomStringConvertible {
    let text: String
    var description: String { "unknown argument: \(text)" }
}
