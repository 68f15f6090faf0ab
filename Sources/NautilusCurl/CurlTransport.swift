#if os(Linux)
    import Foundation
    import NautilusHTTP
    import FoundationNetworking

    /// The default transport on Linux, if there is a usable libcurl; see `HttpTransport/platform`. It uses the libcurl
    /// that Foundation's networking has loaded anyway. Its protocol is HTTP/1.1, even over TLS.
    /// ```swift
    /// let uploads = CurlTransport(configuration: .init(connectionsPerHost: 32, route: .proxy(proxy)))
    /// ```
    /// Like `URLSessionTransport`, it follows no redirects, answers no challenges, keeps no cookies, caches nothing,
    /// retries nothing, and has a timeout only for connecting. The guide `BodiesAndStreams` lists the other rules.
    ///
    /// Share an instance: each has its own connections and, from its first exchange on, a thread for all its sockets.
    /// Both end once the instance has been released and its last exchange has ended. A child process that was forked
    /// without `exec` cannot use it.
    public final class CurlTransport: InterruptibleTransport {
        /// An instance to share, with the default ``Configuration``.
        public static let shared = CurlTransport()

        /// Why there is no usable libcurl here; nil if there is one. Otherwise exchanges fail with this reason, and
        /// nothing is sent.
        ///
        /// A usable libcurl is 7.80 or later, with a TLS library that threads can share, such as OpenSSL 1.1 and later.
        public static var unavailability: String? {
            if case .failure(let reason) = CurlLibrary.found { reason.description } else { nil }
        }
        /// The libcurl that was found, with its TLS library; nil if none can be used.
        public static var library: String? {
            guard case .success(let library) = CurlLibrary.found else { return nil }
            return "libcurl \(library.version) with \(library.tls)"
        }

        let configuration: Configuration
        private let reference = Locked<CurlLoop.Reference?>(nil)

        /// Creates a transport with connections of its own.
        public init(configuration: Configuration = Configuration()) {
            self.configuration = configuration
        }

        /// Sends `request` once; see `HttpTransport.send(_:context:)`.
        ///
        /// - Throws: `TransportError`; `HttpRequest.Invalid` for a method or a header that cannot be sent; the error of
        ///   a body stream; `CancellationError`, at once when the task is cancelled.
        public func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            if case .stream(let stream) = request.body, stream.sentAsBytes == nil {
                let opened = try await open(request, context)
                var response = try await opened.response.collected(limit: configuration.responseLimit, context)
                response.trailers = opened.exchange.trailers
                return response
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

        /// Sends `request` once and returns its response as soon as the header has arrived; see
        /// `HttpTransport.stream(_:context:)`.
        ///
        /// - Throws: The errors of ``send(_:context:)``.
        public func stream(
            _ request: HttpRequest,
            context: TransportContext
        ) async throws -> HttpResponse<HttpBodyStream> {
            try await open(request, context).response
        }

        private func open(
            _ request: HttpRequest,
            _ context: TransportContext
        ) async throws -> (response: HttpResponse<HttpBodyStream>, exchange: CurlExchange) {
            let download = CurlDownload()
            var upload: CurlUpload?
            if case .stream(let stream) = request.body, stream.sentAsBytes == nil {
                // libcurl asks for nothing of such a body.
                if stream.length == 0 { try await CurlUpload.expectNothing(of: stream) }
                upload = CurlUpload()
            }
            let transfer = try transfer(of: request, context, download: download, upload: upload)
            if let upload, case .stream(let stream) = request.body {
                // Started from the caller's task, so that the code that makes the body finds the caller's task-local
                // values.
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

        private func transfer(
            of request: HttpRequest,
            _ context: TransportContext,
            download: CurlDownload? = nil,
            upload: CurlUpload? = nil
        ) throws -> CurlTransfer {
            let request = try CurlRequest(request)
            let exchange = CurlExchange(try runningLoop(), download: download, upload: upload)
            return CurlTransfer(exchange, of: request, context: context, configuration: configuration)
        }

        /// The loop, which is made for its first exchange.
        func runningLoop() throws -> CurlLoop.Reference {
            let library: CurlLibrary
            do throws(CurlLibrary.Unusable) {
                library = try CurlLibrary.found.get()
            } catch {
                let reason = "CurlTransport cannot be used: \(error)."
                throw TransportError.failed(.cannotConnectToHost, delivery: .notSent, reason: reason)
            }
            return try reference.withLock { reference throws(TransportError) in
                if let reference { return reference }
                guard let loop = CurlLoop(configuration, library) else { throw TransportError.unusable }
                let made = CurlLoop.Reference(loop)
                reference = made
                return made
            }
        }
    }

    /// The caller's side.
    extension CurlTransfer {
        /// Starts the transfer, and waits for its answer.
        func answer() async throws -> CurlExchange.Answer {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { continuation in
                    guard exchange.awaitAnswer(continuation) else { return }
                    guard let reference = exchange.reference else { return }
                    withExtendedLifetime(reference) { reference.loop.start(self) }
                }
            } onCancel: {
                stop()
            }
        }

        /// Ends the transfer, unless it is over.
        func stop() {
            guard let reference = exchange.reference else { return }
            exchange.abandon()
            // Releasing the last reference closes the loop, which must not happen during this call.
            withExtendedLifetime(reference) { reference.loop.end(self) }
        }

        /// Resumes the transfer if it is paused.
        func goOn() {
            guard let reference = exchange.reference else { return }
            withExtendedLifetime(reference) { reference.loop.resume(self) }
        }
    }

    /// The body of a streamed exchange, held by its reader. Releasing it ends the exchange.
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
                // Even if everything has arrived, since the part that was read must not be taken for the whole.
                download.abandon()
                transfer.stop()
            }
        }
    }

    extension CurlResponseHead {
        /// How many bytes the reader of a streamed body will get; nil if that is not known in advance.
        ///
        /// - Parameter method: The method of the request.
        fileprivate func length(inAnswerTo method: HttpMethod) -> Int64? {
            guard hasBody(inAnswerTo: method) else { return 0 }
            return codings.isEmpty ? contentLength : nil
        }
    }
#endif
