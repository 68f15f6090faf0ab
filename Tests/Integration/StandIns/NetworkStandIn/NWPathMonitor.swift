import Dispatch
import Foundation

/// Tells of paths as Apple's monitor does: on its queue, from its start, the present one first, until it is cancelled.
///
/// Like the real one it is not told which of its changes matter, and tells the same status twice.
package final class NWPathMonitor {
    package var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    private var id: Int?

    package init() {}

    /// Begins, once.
    package func start(queue: DispatchQueue) {
        guard id == nil, let pathUpdateHandler else { return }
        id = NetworkStandIn.shared.join(queue, pathUpdateHandler)
    }

    /// Ends; nothing is told any more.
    package func cancel() {
        if let id { NetworkStandIn.shared.leave(id) }
    }

    // A monitor that is released reports nothing more.
    deinit { cancel() }
}

/// The device's network.
package final class NetworkStandIn: @unchecked Sendable {
    // Unchecked: what changes is only touched with `lock` held.
    private let lock = NSLock()
    private var status = NWPath.Status.satisfied  // guarded by lock
    private var monitors: [Int: (queue: DispatchQueue, handler: @Sendable (NWPath) -> Void)] = [:]  // guarded by lock
    private var lastId = 0  // guarded by lock

    /// The one network of the process.
    package static let shared = NetworkStandIn()

    /// How many monitors have started and are not cancelled.
    package var monitorCount: Int { lock.withLock { monitors.count } }

    /// Changes the path, and returns once every monitor has told of it.
    package func set(_ status: NWPath.Status) {
        let monitors = lock.withLock {
            self.status = status
            return Array(self.monitors.values)
        }
        for monitor in monitors { monitor.queue.sync { monitor.handler(NWPath(status: status)) } }
    }

    func join(_ queue: DispatchQueue, _ handler: @escaping @Sendable (NWPath) -> Void) -> Int {
        let (id, status) = lock.withLock {
            lastId += 1
            monitors[lastId] = (queue, handler)
            return (lastId, self.status)
        }
        queue.async { handler(NWPath(status: status)) }
        return id
    }

    func leave(_ id: Int) {
        lock.withLock { monitors[id] = nil }
    }
}
