#if os(Linux)
    internal import CNautilusCurl

    /// The connection of a transfer: how it was made, what it carries, and what its end means.
    extension CurlTransfer {
        /// How the transfer has got its connection, as far as it has got.
        var connection: CallTrace.Exchange.Connection {
            guard let handle, handle.number(NAUTILUS_CURL_INFO_NUM_CONNECTS) > 0 else {
                return CallTrace.Exchange.Connection(repeats: repeats)
            }
            let name = handle.duration(NAUTILUS_CURL_INFO_NAMELOOKUP_TIME_T)
            let connected = handle.duration(NAUTILUS_CURL_INFO_CONNECT_TIME_T)
            // Each time counts from the beginning, and is zero if its event has not happened, or never happens.
            let secured = handle.duration(NAUTILUS_CURL_INFO_APPCONNECT_TIME_T)
            return CallTrace.Exchange.Connection(
                nameLookup: name,
                connect: max(.zero, connected - name),
                secure: max(.zero, secured - connected),
                repeats: repeats
            )
        }

        /// Decides whether to send the request again, since a kept connection has ended before any byte of an answer,
        /// or the server has refused it. Over HTTP/1.1, libcurl does that by itself.
        ///
        /// - Parameter code: libcurl's code for the failure.
        func isRepeated(after code: Int32) -> Bool {
            guard isMultiplexed, isRepeatable || !isSent, CurlFailure.connectionEnds.contains(code) else {
                return false
            }
            // The caller has gone, the session has ended, or this side has refused the answer.
            guard isAdmitted, refusal == nil, endOfSession == nil, !exchange.isAnswered else { return false }
            guard number(NAUTILUS_CURL_INFO_HEADER_SIZE) == 0 else { return false }
            // A connection that was made for this request has failed it, and another one may as well.
            guard number(NAUTILUS_CURL_INFO_NUM_CONNECTS) == 0 else { return false }
            return admissions.leavesRepeats && rewind()
        }

        /// Whether the answer is complete, as far as its length tells.
        var isAnswerWhole: Bool {
            head.isComplete && (!head.hasBody(inAnswerTo: method) || head.contentLength == bodyCount)
        }

        /// Whether the answer came over HTTP/2.
        var isHttp2: Bool {
            number(NAUTILUS_CURL_INFO_HTTP_VERSION) == CurlTransport.HttpVersion.http2Number
        }

        /// Whether the body is not whole: not as long as announced, or without its end.
        var isCut: Bool {
            guard isMultiplexed, head.hasBody(inAnswerTo: method) else { return false }
            if let length = head.contentLength { return length != bodyCount }
            return isHttp2 && handle?.progress.lacksEnd == true
        }

        /// Whether the answer has come over HTTP/2, and libcurl waits for the rest of the request to be let through.
        var isOverdue: Bool { head.isComplete && isHttp2 && handle?.progress.isOverdue == true }

        /// Ends the transfer if its answer is complete and only the rest of the request's body keeps it going, of which
        /// the server may never read another byte. libcurl would wait for it.
        ///
        /// - Returns: Whether that is the case.
        func endIfOverdue() -> Bool {
            guard isMultiplexed && isHttp2 ? isOverdue : isAnswerWhole else { return false }
            end(CurlFailure.aborted)
            return true
        }

        /// Lets libcurl notice that an answer is complete which came before all of the request's body was sent: libcurl
        /// sends no more of that body, but would wait for it while it is paused.
        func lookAgain() {
            if let handle { nautilus_easy_resume(handle.easy) }
        }

        /// Takes an answer over HTTP/2 that has ended for whole, though libcurl calls the exchange a failure: it was ended
        /// here, or the server has gone or reset the exchange after its answer, or the end of the request was written
        /// only then. The trailers, which libcurl has kept back, are taken as well.
        ///
        /// - Returns: Whether it has ended, and the trailers could be had.
        func takeEnd() -> Bool {
            guard isMultiplexed, head.isComplete, isHttp2, let handle, handle.progress.isEnded else { return false }
            return nautilus_easy_take_trailers(handle.easy) != 0
        }

        /// Notes how many exchanges with the server there may be at once, if it has answered. With a trace, the server
        /// has said it at the beginning of the connection.
        func learnLimit() {
            guard isMultiplexed, !CurlLibrary.isTraced, head.isComplete else { return }
            learnedLimit = isHttp2 ? limits.streams : limits.connections
        }

        /// How many exchanges there may be at once with a server that has not said it, since no connection was made:
        /// they need not wait for each other to find that out. Nil if one was made.
        var guessedLimit: Int? { isMultiplexed && !isAdmitted ? limits.connections : nil }

        /// Notes how many exchanges the server takes at once on the transfer's connection.
        ///
        /// - Parameter count: A number, or one of `nautilus_streams`.
        func learnLimit(_ count: Int) {
            learnedLimit =
                switch count {
                case Int(NAUTILUS_STREAMS_HTTP1.rawValue): limits.connections
                case Int(NAUTILUS_STREAMS_ANY.rawValue): limits.exchanges(toldOf: nil)
                default: limits.exchanges(toldOf: count)
                }
        }
    }
#endif
