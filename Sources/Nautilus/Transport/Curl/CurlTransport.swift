#if os(Linux)
    import Foundation
    import FoundationNetworking

    /// The transport of services on Linux that name no other: libcurl itself, which Foundation's networking has loaded
    /// anyway, driven without the layer above it. Where there is none that can be used, see ``PlatformTransport``, it
    /// is ``URLSessionTransport`` instead.
    ///
    /// ```swift
    /// struct Staging: HttpService {
    ///     let transport: any HttpTransport = CurlTransport(
    ///         configuration: .init(connectionsPerHost: 32, route: .proxy(.init("http://proxy.example.com:3128")))
    ///     )
    ///     var apiUrl: any UrlConvertible { "staging.example.com/v1" }
    /// }
    /// ```
    /// Like ``URLSessionTransport`` it follows no redirects, answers no challenges, keeps no cookies, caches nothing,
    /// retries nothing and times nothing out but connecting. A caller should know:
    /// - A failure is ``Delivery/notSent`` exactly when not a byte of the request was written, whatever its kind.
    /// - libcurl repeats a request by itself when a kept connection turns out to be closed before any byte of an answer
    ///   came. That is let happen for idempotent methods and for requests with an `Idempotency-Key`, and costs one new
    ///   connection. Others fail with `networkConnectionLost`, maybe executed: the server gets them once.
    /// - A connection that is not made within ``Configuration/connectTimeout`` ends the exchange with `timedOut`,
    ///   ``Delivery/notSent``; only a request that libcurl repeats may have been executed by then.
    /// - An answer that is whole is the response, though the server has not read all of the request's body.
    /// - Header fields go out and come in in their order, several values of one name as several lines; of `Cookie`, as
    ///   one (RFC 6265 §5.4). Control characters in values are refused (RFC 9110 §5.5).
    /// - `Content-Encoding` gzip and deflate, and br and zstd where the system has libbrotlidec and libzstd, are asked
    ///   for and undone; the response's header keeps the names. A body that breaks off within them is an error, and so
    ///   is a zstd frame with a window of more than 8 MiB (RFC 9659). A request with an `Accept-Encoding` of its own
    ///   has that sent instead.
    /// - A streamed body goes out while it is made, and comes in while it is read: a reader or a writer that is slow
    ///   slows the other side down.
    /// - Interim responses (1xx) are passed over, ``HttpResponse/trailers`` handed over, and a 101 that was not asked
    ///   for is an error.
    /// - HTTP/1.1 is spoken, over TLS as well. HTTP/2 is not: in the versions of libcurl that are about, an upload that
    ///   is answered early never ends, and a connection that the server has given up may be used once more.
    /// - A child process that forks without `exec` cannot use it, as it cannot use anything that is built on threads.
    ///
    /// Share one: connections are kept per instance, and each has a thread that waits for all its sockets, from its
    /// first exchange on. An instance ends its thread and closes its connections once it is released and its last
    /// exchange has ended.
    public final class CurlTransport: InterruptibleTransport {
        /// An instance to share, with the default ``Configuration``.
        public static let shared = CurlTransport()

        /// Why there is no libcurl here that can be used; nil where there is one. Exchanges fail with it then, not
        /// sent.
        ///
        /// It has to be 7.80 or later, with a TLS library that threads can share, such as OpenSSL 1.1 and later.
        public static var unavailability: String? {
            if case .failure(let reason) = CurlLibrary.found { reason.description } else { nil }
        }

        let configuration: Configuration
        private let lease: Locked<CurlLoop.Lease?>

        /// Creates a transport with connections of its own.
        public init(configuration: Configuration = Configuration()) {
            self.configuration = configuration
            self.lease = Locked(nil)
        }

        /// Itself: it keeps connections.
        public var sharedObjects: [any AnyObject & Sendable] { [self] }

        /// Sends `request` once; see ``HttpTransport/send(_:context:)``.
        ///
        /// - Throws: ``TransportError``; ``InvalidRequest`` for a method or a header that cannot be sent; the error of
        ///   a body stream; `CancellationError`, at once when the task is cancelled.
        public func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
            if case .stream(let stream) = request.body, stream.sentAsBytes == nil {
                return try await collect(open(request, context))
            }
            let transfer = try transfer(of: request, context)
            context.interruption?.onOccurrence { transfer.stop() }
            defer { context.interruption?.ignore() }
            let answer = try await transfer.answer()
            var response = HttpResponse(
                status: answer.head.status,
                header: answer.head.header,
                body: answer.body,
                url: request.url
            )
            response.trailers = answer.head.trailers
            return response
        }

        /// Sends `request` once and returns its response as soon as the header has come; see
        /// ``HttpTransport/stream(_:context:)``.
        ///
        /// - Throws: The errors of ``send(_:context:)``.
        public func stream(
            _ request: HttpRequest,
            context: AttemptContext
        ) async throws -> HttpResponse<HttpBodyStream> {
            try await open(request, context).response
        }

        private func open(
            _ request: HttpRequest,
            _ context: AttemptContext
        ) async throws -> (response: HttpResponse<HttpBodyStream>, exchange: CurlExchange) {
            let download = CurlDownload()
            var upload: CurlUpload?
            if case .stream(let stream) = request.body, stream.sentAsBytes == nil { upload = CurlUpload() }
            let transfer = try transfer(of: request, context, download: download, upload: upload)
            if let upload, case .stream(let stream) = request.body {
                // A task of the caller's, so that the body's maker finds the caller's task-local values.
                upload.feed(by: Task { await upload.feed(stream) { transfer.goOn() } })
            }
            let answer = try await transfer.answer()
            let reader = CurlReader(download, transfer)
            let response = HttpResponse(
                status: answer.head.status,
                header: answer.head.header,
                body: HttpBodyStream(length: answer.head.length(inAnswerTo: request.method)) {
                    try await reader.next()
                },
                url: request.url
            )
            return (response, transfer.exchange)
        }

        /// The whole response of a request whose body was streamed.
        private func collect(
            _ opened: (response: HttpResponse<HttpBodyStream>, exchange: CurlExchange)
        ) async throws -> HttpResponse<Data> {
            do {
                let body = try await opened.response.body.collected(limit: configuration.responseLimit)
                var response = opened.response.replacingBody(body)
                response.trailers = opened.exchange.trailers
                return response
            } catch HttpBodyStream.ReadError.tooLarge(let limit) {
                throw TransportError.responseTooLarge(limit: limit)
            }
        }

        private func transfer(
            of request: HttpRequest,
            _ context: AttemptContext,
            download: CurlDownload? = nil,
            upload: CurlUpload? = nil
        ) throws -> CurlTransfer {
            let request = try CurlRequest(request)
            let exchange = CurlExchange(try runningLoop(), download: download, upload: upload)
            return CurlTransfer(exchange, of: request, context: context, configuration: configuration)
        }

        /// The loop, made when the first exchange comes.
        func runningLoop() throws -> CurlLoop.Lease {
            let library: CurlLibrary
            do throws(CurlLibrary.Unusable) {
                library = try CurlLibrary.found.get()
            } catch {
                let reason = "CurlTransport cannot be used: \(error)."
                throw TransportError.failed(.cannotConnectToHost, delivery: .notSent, reason: reason)
            }
            return try lease.withLock { lease throws(TransportError) in
                if let lease { return lease }
                guard let loop = CurlLoop(configuration, library) else { throw TransportError.unusable }
                let made = CurlLoop.Lease(loop)
                lease = made
                return made
            }
        }
    }

    /// Its caller's side.
    extension CurlTransfer {
        /// Starts it, and waits for its answer.
        func answer() async throws -> CurlExchange.Answer {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard exchange.awaitAnswer(continuation) else { return }
                    exchange.lease?.loop.start(self)
                }
            } onCancel: {
                stop()
            }
        }

        /// Ends it, unless it is over.
        func stop() {
            guard let lease = exchange.lease else { return }
            exchange.abandon()
            lease.loop.end(self)
        }

        /// Lets it go on where it has been paused.
        func goOn() {
            exchange.lease?.loop.resume(self)
        }
    }

    /// The body of a streamed exchange, as its reader holds it: when it is released, the exchange ends.
    private final class CurlReader: Sendable {
        private let download: CurlDownload
        private let transfer: CurlTransfer

        init(_ download: CurlDownload, _ transfer: CurlTransfer) {
            self.download = download
            self.transfer = transfer
        }

        deinit {
            transfer.stop()
        }

        func next() async throws -> Data? {
            try Task.checkCancellation()
            return try await withTaskCancellationHandler {
                try await download.next { transfer.goOn() }
            } onCancel: {
                // Even when all has come: the part that was read must not be taken for the whole.
                download.abandon()
                transfer.stop()
            }
        }
    }

    extension CurlResponseHead {
        /// How many bytes the reader of a streamed body gets; nil when that is unknown before they have come.
        ///
        /// - Parameter method: The method of the request.
        fileprivate func length(inAnswerTo method: HttpMethod) -> Int64? {
            guard hasBody(inAnswerTo: method) else { return 0 }
            return codings.isEmpty ? contentLength : nil
        }
    }
#endif
