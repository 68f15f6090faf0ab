import ArgumentParser

struct Serve: NotesCommand {
    func execute() async throws {}
}
