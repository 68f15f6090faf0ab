import Nautilus

/// The call that all designs make.
struct GetNote {
    let id: Int
}
extension GetNote: Request {
    typealias Result = Void
    var route: HttpRoute { ["notes", id] }
}
