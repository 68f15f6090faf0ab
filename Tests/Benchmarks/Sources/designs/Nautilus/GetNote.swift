import Nautilus

/// The call that all designs make.
struct GetNote: Request {
    typealias Result = Void
    let id: Int
    var route: HttpRoute { ["notes", id] }
}
