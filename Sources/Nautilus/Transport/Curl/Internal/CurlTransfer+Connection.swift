#if os(Linux)
    internal import CNautilusCurl

    /// The connection of a transfer: how it was made, what it carries, and what its end means.
    extension CurlTransfer {
        /// How the transfer has got its connection, as far as it has got.
        var connection: CallTrace.Exchange.Connection {
            guard let handle, handle.number(NAUTILUS_CURL_INFO_NUM_CONNECTS) > 0 else { return .reused }
            let name = handle.duration(NAUTILUS_CURL_INFO_NAMELOOKUP_TIME_T)
            let connected = handle.duration(NAUTILUS_CURL_INFO_CONNECT_TIME_T)
            // Each time counts from the beginning, and is zero if its event has not happened, or never happens.
            let secured = handle.duration(NAUTILUS_CURL_INFO_APPCONNECT_TIME_T)
            return CallTrace.Exchange.Connection(
                nameLookup: name,
                connect: max(.zero, connected - name),
                secure: max(.zero, secured - connected)
            )
        }

        /// As often as libcurl repeats a request by itself.
        static let mostRepeats = 5

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
            return admissions <= Self.mostRepeats && rewind()
        }

        /// Whether the answer is complete, as far as its length tells.
        var isAnswerWhole: Bool {
            head.isComplete && (!head.hasBody(inAnswerTo: method) || head.contentLength == bodyCount)
        }

        /// Whether the answer came over HTTP/2.
        var isHttp2: Bool {
            number(NAUTILUS_CURL_INFO_HTTP_VERSION) == CurlTransport.HttpVersion.http2Number
        }

        /// Whether the body is not whole: not as long as announced, or without its end. libcurl takes a stream that is
        /// reset without an error for one that has ended.
        var isCut: Bool {
            guard isMultiplexed, head.hasBody(inAnswerTo: method) else { return false }
            if let length = head.contentLength { return length != bodyCount }
            guard isHttp2, let trace = handle?.trace, trace.is_traced != 0 else { return false }
            return trace.is_ended == 0
        }

        /// Whether the server has ended its answer over HTTP/2, and a part of the request has not been sent, which it
        /// may never let through. libcurl would wait for that.
        var isOverdue: Bool {
            guard head.isComplete, let trace = handle?.trace else { return false }
            return trace.is_ended != 0 && trace.is_sent == 0
        }

        /// Takes an answer for whole that is overdue, with its trailers, which libcurl has kept back.
        ///
        /// - Returns: Whether it is, and they could be had.
        func takeEnd() -> Bool {
            guard isMultiplexed, isHttp2, isOverdue, let handle else { return false }
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
                case Int(NAUTILUS_STREAMS_ANY.rawValue): limits.streams
                default: min(count, limits.streams)
                }
        }
    }
#endif
