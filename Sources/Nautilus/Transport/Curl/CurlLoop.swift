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
        // Unsafe: to wait and to wake are thread-safe, and the rest is called under the core's lock, which releases it last.
        private nonisolated(unsafe) let loop: OpaquePointer
        private let startsOnAnyThread: Bool
        private let spareHandles = Locked<[CurlHandle]>([])

        /// How many handles are kept: more transfers are hardly ever under way at once, and one takes some 10 KiB.
        private static let spareLimit = 64

        /// - Returns: Nil where the system has no descriptor or no memory left.
        init?(_ configuration: CurlTransport.Configuration, _ library: CurlLibrary) {
            guard let loop = nautilus_loop_create(max(1, configuration.connections)) else { return nil }
            self.loop = loop
            self.startsOnAnyThread = library.isSafeOnAnyThread
            self.core = Locked(CurlCore(loop, endsLookups: library.isSafeOnAnyThread))
            let lines = ConnectionLines<CurlTransfer.Line, CurlTransfer>(
                limit: configuration.connectionsPerHost,
                total: configuration.connections
            )
            self.inbox = Locked(Inbox(lines: lines))
        }

        /// A handle without options; nil where there is no memory left.
        func handle() -> CurlHandle? {
            spareHandles.withLock { $0.popLast() } ?? CurlHandle()
        }

        /// Starts a transfer once there is a connection for it, unless its caller has gone.
        func start(_ transfer: CurlTransfer) {
            // Before it can be ended.
            transfer.context.beginConnecting()
            transfer.context.beginWaitingForConnection()
            let isConnected = inbox.withLock { inbox in
                let isConnected = inbox.lines.enter(transfer.line, transfer, priority: transfer.priority)
                if isConnected { inbox.jobs.append(.start(transfer)) }
                return isConnected
            }
            guard isConnected else {
                // If it was cancelled meanwhile, the cancellation has not found it in the line.
                if transfer.exchange.isAnswered { forget(transfer) }
                return
            }
            transfer.context.endWaitingForConnection()
            work()
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

        private func add(_ job: Job) {
            inbox.withLock { $0.jobs.append(job) }
            work()
        }

        private func forget(_ transfer: CurlTransfer) {
            inbox.withLock { $0.lines.forget(transfer.line, transfer.id) }
        }

        /// Has the inbox worked off, here or on the loop's thread.
        private func work() {
            if startsOnAnyThread {
                let work = core.withLockIfAvailable { core in
                    core.perform(inbox.withLock { $0.take() })
                    core.begin()
                    return collect(&core)
                }
                work.map(deliver)
            }
            switch inbox.withLock({ $0.alarm() }) {
            case nil: return
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
            while true {
                repeat {
                    let work = core.withLock { core in
                        core.perform(inbox.withLock { $0.take() })
                        core.step(count)
                        return collect(&core)
                    }
                    count = 0
                    deliver(work)
                } while !inbox.withLock({ $0.fallAsleep() })
                if inbox.withLock({ $0.isStopped && $0.jobs.isEmpty }) { return core.withLock { $0.close() } }
                count = nautilus_loop_wait(loop)
            }
        }

        /// The steps that are left for when the lock is released.
        private struct Work {
            var ended: [CurlOutcome] = []
            /// Those that have got the connections of those that have ended.
            var connected: [CurlTransfer] = []
            /// Web sockets that have ended.
            var sockets: [CurlSocket] = []
        }

        /// The transfers and sockets that have ended; the transfers' connections go to the next in line.
        private func collect(_ core: inout CurlCore) -> Work {
            let ended = core.ended()
            let sockets = core.takeSockets()
            if !sockets.waiting.isEmpty { inbox.withLock { $0.jobs += sockets.waiting.map { .move($0) } } }
            guard !ended.isEmpty else { return Work(sockets: sockets.ended) }
            let connected = inbox.withLock { inbox in ended.compactMap { inbox.leave($0.transfer.line) } }
            return Work(ended: ended, connected: connected, sockets: sockets.ended)
        }

        private func deliver(_ work: Work) {
            for transfer in work.connected { transfer.context.endWaitingForConnection() }
            for outcome in work.ended {
                outcome.deliver()
                recycle(outcome.transfer.handle)
            }
            for socket in work.sockets {
                socket.release()
                recycle(socket.handle)
            }
        }

        private func recycle(_ handle: CurlHandle) {
            // With it go header and body.
            handle.reset()
            spareHandles.withLock { spare in
                if spare.count < Self.spareLimit { spare.append(handle) }
            }
        }

        /// There is no thread to be had: nothing can be waited for.
        private func failAll() {
            inbox.withLock { $0.hasThread = false }
            while inbox.withLock({ !$0.jobs.isEmpty }) || !isIdle {
                let work = core.withLock { core in
                    core.perform(inbox.withLock { $0.take() })
                    core.failAll()
                    return collect(&core)
                }
                deliver(work)
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

        /// Takes the jobs. The thread stays asleep while another thread works on them; jobs left behind have to wake
        /// it.
        fileprivate mutating func take() -> [CurlLoop.Job] {
            defer { jobs = [] }
            return jobs
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
