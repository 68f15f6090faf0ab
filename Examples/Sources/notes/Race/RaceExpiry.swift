import ArgumentParser

/// How an access token comes to its end before a race.
enum RaceExpiry: String, CaseIterable, ExpressibleByArgument {
    /// Its time is over, which the processes know: they refresh before they call.
    case known
    /// The server ends it early, which each process learns by a 401.
    case rejected
}
