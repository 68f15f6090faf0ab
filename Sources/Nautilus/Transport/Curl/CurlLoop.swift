#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// The transfers of a transport, and the thread that waits for their sockets.
    ///
    /// Jobs stand in an inbox. The thread that adds one does it at once if no other is at work, which spares a change
    /// of threads; otherwise the loop's own thread does. Answers are given when the lock is released.
    ///
    /// Its thread holds it, so a ``Lease`` has to tell when it is no longer needed.
    final class CurlLoop: Sendable {
        /// A step to be taken with a transfer.
        enum Job {
            case start(CurlTransfer)
            /// Its caller or its reader has gone.
            case end(CurlTransfer)
            /// There is room for more of its response, or more of its request.
            case resume(CurlTransfer)
            /// There is something to do for a web socket: to begin, to write, to read on, to end.
            case move(CurlSocket)
        }

        /// The use of a loop, which stops when the last one is released.
        final class Lease: Sendable {
            let loop: CurlLoop

            init(_ loop: CurlLoop) {
                self.loop = loop
            }

            deinit {
                loop.stop()
            }
        }

        fileprivate struct Inbox {
            var jobs: [Job] = []
            var lines: ConnectionLines<CurlTransfer.Line, CurlTransfer>
            var hasThread = false
            /// Whether the thread has to be woken for a job.
            var isAsleep = false
            var isStopped = false
        }

        private let inbox: Locked<Inbox>
        private let core: Locked<CurlCore>
        /// The C library's loop, as the core has it.
        // Unsafe: to wait and to wake are thread-safe, and the rest is called under the core's lock, which releases it
        // last.
        private nonisolated(unsafe) let loop: OpaquePointer
        private let startsOnAnyThread: Bool

        /// - Returns: Nil where the system has no descriptor or no memory left.
        init?(_ configuration: CurlTransport.Configuration, _ library: CurlLibrary) {
            guard let loop = nautilus_loop_create(max(1, configuration.connections)) else { return nil }
            self.loop = loop
            self.startsOnAnyThread = library.isSafeOnAnyThread
            self.core = Locked(CurlCore(loop, configuration, endsLookups: library.isSafeOnAnyThread))
            let lines = ConnectionLines<CurlTransfer.Line, CurlTransfer>(
                limit: configuration.connectionsPerHost,
                total: configuration.connections
            )
            self.inbox = Locked(Inbox(lines: lines))
        }

        /// Starts a transfer once there is a connection for it, unless its caller has gone.
        func start(_ transfer: CurlTransfer) {
            let context = transfer.context
            // Before it can be ended.
            context.beginConnecting()
            guard !inbox.withLock({ $0.lines.enter(transfer.line) }) else { return add(.start(transfer)) }
            context.beginWaitingForConnection()
            let priority = transfer.request.request.priority
            if inbox.withLock({ $0.lines.enter(transfer.line, transfer, priority: priority) }) {
                context.endWaitingForConnection()
                add(.start(transfer))
            } else if transfer.exchange.isAnswered {
                // If it was cancelled meanwhile, the cancellation has not found it in the line.
                forget(transfer)
            }
        }

        /// Ends a transfer whose caller or reader has gone.
        func end(_ transfer: CurlTransfer) {
            forget(transfer)
            add(.end(transfer))
        }

        /// Lets a transfer go on that has been paused.
        func resume(_ transfer: CurlTransfer) {
            add(.resume(transfer))
        }

        /// Starts a web socket, or lets it go on.
        func move(_ socket: CurlSocket) {
            add(.move(socket))
        }

        /// Ends the thread once there is nothing left to do; the loop's last user has gone.
        private func stop() {
            let hasThread = inbox.withLock { inbox in
                inbox.isStopped = true
                return inbox.hasThread
            }
            if hasThread { nautilus_loop_wake(loop) } else { core.withLock { $0.close() } }
        }

        /// Has a step taken, here or on the loop's thread.
        private func add(_ job: Job) {
            var work = Work()
            let isDone: Void? =
                startsOnAnyThread
                ? core.withLockIfAvailable { core in
                    takeJobs(&core)
                    core.jobs.append(job)
                    core.perform(on: .other)
                    core.begin(on: .other)
                    collect(&core, &work)
                } : nil
            if isDone != nil { deliver(&work) }
            let alarm = inbox.withLock { inbox in
                if isDone == nil { inbox.jobs.append(job) }
                return inbox.alarm()
            }
            if let alarm { raise(alarm) }
        }

        /// The thread stays asleep while another thread works on the jobs; those left behind have to wake it.
        private func takeJobs(_ core: inout CurlCore) {
            // The core has none left, so that the inbox gets its memory.
            inbox.withLock { swap(&$0.jobs, &core.jobs) }
        }

        private func forget(_ transfer: CurlTransfer) {
            inbox.withLock { $0.lines.forget(transfer.line, transfer.id) }
        }

        private func raise(_ alarm: Inbox.Alarm) {
            switch alarm {
            case .wake: nautilus_loop_wake(loop)
            case .start:
                // The thread holds the loop until it is told to stop.
                let context = Unmanaged.passRetained(self)
                let run: @convention(c) (UnsafeMutableRawPointer) -> Void = {
                    Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run()
                }
                guard nautilus_thread_start(run, context.toOpaque()) == 0 else { return }
                context.release()
                failAll()
            }
        }

        /// The thread.
        private func run() {
            var count: Int32 = 0
            var work = Work()
            while true {
                repeat {
                    core.withLock { core in
                        takeJobs(&core)
                        core.perform(on: .own)
                        core.step(count)
                        collect(&core, &work)
                    }
                    count = 0
                    startConnected(&work)
                    deliver(&work)
                } while !inbox.withLock({ $0.fallAsleep() })
                if inbox.withLock({ $0.isStopped && $0.jobs.isEmpty }) { return core.withLock { $0.close() } }
                count = nautilus_loop_wait(loop)
            }
        }

        /// Has the requests on their way that have waited for those that have ended, before the answers are given out,
        /// since that takes its time.
        private func startConnected(_ work: inout Work) {
            guard !work.connected.isEmpty else { return }
            work.noteConnected()
            core.withLock { core in
                takeJobs(&core)
                core.perform(on: .own)
                core.begin(on: .own)
                collect(&core, &work)
            }
        }

        /// The steps that are left for when the lock is released.
        private struct Work {
            var ended: [CurlTransfer] = []
            /// Those that have got the connections of those that have ended.
            var connected: [CurlTransfer] = []
            /// Web sockets that have ended.
            var sockets: [CurlSocket] = []

            // Not under a lock: the clock may be the user's.
            mutating func noteConnected() {
                for transfer in connected { transfer.context.endWaitingForConnection() }
                connected.removeAll(keepingCapacity: true)
            }
        }

        /// Adds the transfers and sockets that have ended; the transfers' connections go to the next in line.
        private func collect(_ core: inout CurlCore, _ work: inout Work) {
            let before = work.ended.count
            core.takeEnded(into: &work.ended)
            let sockets = core.takeSockets()
            work.sockets += sockets.ended
            guard before < work.ended.count || !sockets.waiting.isEmpty else { return }
            inbox.withLock { inbox in
                inbox.jobs += sockets.waiting.map { .move($0) }
                for transfer in work.ended[before...] {
                    if let next = inbox.leave(transfer.line) { work.connected.append(next) }
                }
            }
        }

        private func deliver(_ work: inout Work) {
            work.noteConnected()
            for transfer in work.ended { transfer.deliver() }
            work.ended.removeAll(keepingCapacity: true)
            for socket in work.sockets { socket.release() }
            work.sockets.removeAll(keepingCapacity: true)
        }

        /// There is no thread to be had: nothing can be waited for.
        private func failAll() {
            inbox.withLock { $0.hasThread = false }
            while inbox.withLock({ !$0.jobs.isEmpty }) || !isIdle {
                var work = Work()
                core.withLock { core in
                    takeJobs(&core)
                    core.perform(on: .other)
                    core.failAll()
                    collect(&core, &work)
                }
                deliver(&work)
            }
        }

        private var isIdle: Bool {
            core.withLock { $0.isIdle }
        }
    }

    extension CurlLoop.Inbox {
        fileprivate enum Alarm {
            case wake
            case start
        }

        /// The alarm that makes the thread look after transfers and jobs; nil when it needs none.
        fileprivate mutating func alarm() -> Alarm? {
            guard hasThread else {
                hasThread = true
                return .start
            }
            guard isAsleep, !jobs.isEmpty else { return nil }
            isAsleep = false
            return .wake
        }

        /// Whether there is nothing to do, so that the thread may wait.
        fileprivate mutating func fallAsleep() -> Bool {
            isAsleep = jobs.isEmpty
            return isAsleep
        }

        /// Gives a connection to the next in line.
        ///
        /// - Returns: The transfer that has it now; nil when the line is empty.
        fileprivate mutating func leave(_ line: CurlTransfer.Line) -> CurlTransfer? {
            guard let next = lines.leave(line) else { return nil }
            // A transfer whose caller has gone without being taken out of the line gives the connection back when it is
            // to start.
            jobs.append(.start(next))
            return next
        }
    }
#endif
