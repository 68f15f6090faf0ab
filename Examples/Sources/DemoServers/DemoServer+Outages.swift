extension DemoServer {
    /// Answers every request for notes with 503 from now on, as a server does that has lost its database.
    public func breakDown() async {
        await backend.setDown(true)
    }

    /// Serves requests again.
    public func recover() async {
        await backend.setDown(false)
    }
}
