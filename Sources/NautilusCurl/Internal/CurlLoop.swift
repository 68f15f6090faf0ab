#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// The transfers of a transport, and the thread that waits for their sockets.
    ///
    /// Jobs wait in an inbox. The thread that adds a job carries it out at once if no other thread is at work, which
    /// avoids switching threads; otherwise the loop's own thread does. Answers are given when the lock is released.
    ///
    /// The loop's thread keeps the loop alive, so its users share a ``Reference``, which stops it when it is released.
    final class CurlLoop: Sendable {
        /// A step to take with a transfer or a web socket.
        enum Job {
            case start(CurlTransfer)
            /// The transfer's caller or reader has gone.
            case end(CurlTransfer)
            /// There is room for more of the response, or there is more of the request.
            case resume(CurlTransfer)
            /// A web socket has something to do: to begin, to write, to read on, or to end.
            case move(CurlSocket)
        }

        /// Keeps a loop running; the loop stops when this object is released.
        final class Reference: Sendable {
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
            var queues: ConnectionQueues<CurlTransfer.Queue, CurlTransfer>
            var hasThread = false
            /// Whether the thread has to be woken for a job.
            var isAsleep = false
            var isStopped = false
        }

        private let inbox: Locked<Inbox>
        private let transfers: Locked<CurlTransfers>
        /// The C library's loop, which the transfers use, too.
        // Unsafe: waiting and waking are thread-safe, and possible as long as this object lives, also when another
        // thread has closed the loop; everything else happens under the transfers' lock.
        private nonisolated(unsafe) let loop: OpaquePointer
        private let startsOnAnyThread: Bool

        /// - Returns: Nil if the system has no descriptor or no memory left.
        init?(_ configuration: CurlTransport.Configuration, _ library: CurlLibrary) {
            guard let loop = nautilus_loop_create(max(1, configuration.connections)) else { return nil }
            self.loop = loop
            self.startsOnAnyThread = library.isSafeOnAnyThread
            self.transfers = Locked(CurlTransfers(loop, configuration, endsLookups: library.isSafeOnAnyThread))
            let queues = ConnectionQueues<CurlTransfer.Queue, CurlTransfer>(
                limit: configuration.connectionsPerHost,
                total: configuration.connections
            )
            self.inbox = Locked(Inbox(queues: queues))
        }

        deinit {
            transfers.withLock { $0.close() }
            nautilus_loop_destroy(loop)
        }

        /// Starts a transfer when there is a connection for it, unless its caller has gone.
        func start(_ transfer: CurlTransfer) {
            let context = transfer.context
            // Must come before anything can end the transfer.
            context.beginConnecting()
            guard !inbox.withLock({ $0.queues.enter(transfer.queue) }) else { return add(.start(transfer)) }
            context.beginWaitingForConnection()
            let priority = transfer.request.request.priority
            if inbox.withLock({ $0.queues.enter(transfer.queue, transfer, priority: priority) }) {
                context.endWaitingForConnection()
                add(.start(transfer))
            } else if transfer.exchange.isAnswered {
                // A cancellation in the meantime would not have found the transfer in the queue.
                forget(transfer)
            }
        }

        /// Ends a transfer whose caller or reader has gone.
        func end(_ transfer: CurlTransfer) {
            forget(transfer)
            add(.end(transfer))
        }

        /// Resumes a paused transfer.
        func resume(_ transfer: CurlTransfer) {
            add(.resume(transfer))
        }

        /// Starts a web socket, or lets it continue.
        func move(_ socket: CurlSocket) {
            add(.move(socket))
        }

        /// Ends the thread when there is nothing left to do, since the loop's last user has gone.
        private func stop() {
            let hasThread = inbox.withLock { inbox in
                inbox.isStopped = true
                return inbox.hasThread
            }
            if hasThread { nautilus_loop_wake(loop) } else { transfers.withLock { $0.close() } }
        }

        /// Has a step carried out, here or on the loop's thread.
        private func add(_ job: Job) {
            var work = Work()
            let isDone: Void? =
                startsOnAnyThread
                ? transfers.withLockIfAvailable { transfers in
                    takeJobs(&transfers)
                    transfers.jobs.append(job)
                    transfers.perform(on: .other)
                    transfers.begin(on: .other)
                    collect(&transfers, &work)
                } : nil
            if isDone != nil { deliver(&work) }
            let alarm = inbox.withLock { inbox in
                if isDone == nil { inbox.jobs.append(job) }
                return inbox.alarm()
            }
            if let alarm { raise(alarm) }
        }

        /// Takes the jobs over. The loop's thread stays asleep while another thread works on them; jobs that are left
        /// have to wake it.
        private func takeJobs(_ transfers: inout CurlTransfers) {
            // The transfers' own list is empty, so that swapping reuses its memory for the inbox.
            inbox.withLock { swap(&$0.jobs, &transfers.jobs) }
        }

        private func forget(_ transfer: CurlTransfer) {
            inbox.withLock { $0.queues.forget(transfer.queue, transfer.id) }
        }

        private func raise(_ alarm: Inbox.Alarm) {
            switch alarm {
            case .wake: nautilus_loop_wake(loop)
            case .start:
                // The thread keeps the loop alive until it is told to stop.
                let context = Unmanaged.passRetained(self)
                let run: @convention(c) (UnsafeMutableRawPointer) -> Void = {
                    Unmanaged<CurlLoop>.fromOpaque($0).takeRetainedValue().run()
                }
                guard nautilus_thread_start(run, context.toOpaque()) == 0 else { return }
                context.release()
                failAll()
            }
        }

        /// The thread's main function.
        private func run() {
            var count: Int32 = 0
            var work = Work()
            while true {
                transfers.withLock { transfers in
                    takeJobs(&transfers)
                    transfers.perform(on: .own)
                    transfers.step(count)
                    collect(&transfers, &work)
                }
                startConnected(&work)
                deliver(&work)
                let isAsleep = inbox.withLock { $0.fallAsleep() }
                if isAsleep, inbox.withLock({ $0.isStopped && $0.jobs.isEmpty }) {
                    return transfers.withLock { $0.close() }
                }
                // Looks even if there are more jobs, which may never end: a web socket whose server sends without end
                // has another as soon as one is done, and all others wait for their sockets.
                count = nautilus_loop_wait(loop, isAsleep ? 1 : 0)
            }
        }

        /// Starts the requests that now have the connections of ended transfers. This comes before the answers are
        /// delivered, since delivering takes time.
        private func startConnected(_ work: inout Work) {
            guard !work.connected.isEmpty else { return }
            work.noteConnected()
            transfers.withLock { transfers in
                takeJobs(&transfers)
                transfers.perform(on: .own)
                transfers.begin(on: .own)
                collect(&transfers, &work)
            }
        }

        /// The steps that remain for the moment when the lock is released.
        private struct Work {
            var ended: [CurlTransfer] = []
            /// The transfers that were given the connections of ended ones.
            var connected: [CurlTransfer] = []
            /// Web sockets that have ended.
            var sockets: [CurlSocket] = []

            // Not under a lock, since the clock may be the user's code.
            mutating func noteConnected() {
                for transfer in connected { transfer.context.endWaitingForConnection() }
                connected.removeAll(keepingCapacity: true)
            }
        }

        /// Adds the transfers and sockets that have ended; the transfers' connections go to the next in the queue.
        private func collect(_ transfers: inout CurlTransfers, _ work: inout Work) {
            let before = work.ended.count
            transfers.takeEnded(into: &work.ended)
            let sockets = transfers.takeSockets()
            work.sockets += sockets.ended
            guard before < work.ended.count || !sockets.waiting.isEmpty else { return }
            inbox.withLock { inbox in
                inbox.jobs += sockets.waiting.map { .move($0) }
                for transfer in work.ended[before...] {
                    if let next = inbox.leave(transfer.queue) { work.connected.append(next) }
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

        /// Fails all transfers, because no thread could be started and so nothing can be waited for.
        private func failAll() {
            inbox.withLock { $0.hasThread = false }
            while inbox.withLock({ !$0.jobs.isEmpty }) || !isIdle {
                var work = Work()
                transfers.withLock { transfers in
                    takeJobs(&transfers)
                    transfers.perform(on: .other)
                    transfers.failAll()
                    collect(&transfers, &work)
                }
                deliver(&work)
            }
        }

        private var isIdle: Bool {
            transfers.withLock { $0.isIdle }
        }
    }

    extension CurlLoop.Inbox {
        fileprivate enum Alarm {
            case wake
            case start
        }

        /// The alarm that makes the thread attend to transfers and jobs; nil if it needs none.
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

        /// Gives a connection to the next in the queue.
        ///
        /// - Returns: The transfer that has the connection now; nil if no transfer can have it.
        fileprivate mutating func leave(_ queue: CurlTransfer.Queue) -> CurlTransfer? {
            guard let next = queues.leave(queue) else { return nil }
            // If the transfer's caller has gone but it was still in the queue, it gives the connection back when it
            // is about to start.
            jobs.append(.start(next))
            return next
        }
    }
#endif
