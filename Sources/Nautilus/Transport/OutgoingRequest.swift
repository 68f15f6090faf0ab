import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request in Foundation's form, with the values that `URLRequest` has no place for.
struct OutgoingRequest: Sendable {
    let request: URLRequest
    let priority: RequestPriority
    /// The file that Foundation itself sends as the body, with its length; nil when the request has its body.
    var file: URL?

    /// A task that carries it.
    func task(in session: URLSession) -> URLSessionDataTask {
        let task = file.map { session.uploadTask(with: request, fromFile: $0) } ?? session.dataTask(with: request)
        switch priority {
        case .low: task.priority = URLSessionTask.lowPriority
        case .normal: break
        case .high: task.priority = URLSessionTask.highPriority
        }
        return task
    }
}
