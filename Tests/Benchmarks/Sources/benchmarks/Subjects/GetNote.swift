import BenchmarkServer
import Foundation
import Nautilus

/// The call that all benchmarks make, decoded.
struct GetNote {}
extension GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", 7] }
}

/// The same call, not decoded.
struct GetBytes {
    var timeout: Duration?
    var deadline: Duration?
}
extension GetBytes: Request {
    typealias Result = Data
    var route: HttpRoute { ["notes", 7] }
}
