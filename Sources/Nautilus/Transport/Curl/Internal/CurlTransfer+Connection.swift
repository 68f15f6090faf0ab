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

        /// Decides whether to send the request again, since a kept connection has ended before any byte of an answer.
        /// Over HTTP/1.1, libcurl does that by itself.
        ///
        /// - Parameter code: libcurl's code for the failure.
        func isRepeated(after code: Int32) -> Bool {
            guard isMultiplexed, isRepeatable, CurlFailure.connectionEnds.contains(code) else { return false }
            // The caller has gone, the session has ended, or this side has refused the answer.
            guard isAdmitted, refusal == nil, endOfSession == nil, !exchange.isAnswered else { return false }
            guard number(NAUTILUS_CURL_INFO_HEADER_SIZE) == 0 else { return false }
            // A connection that was made for this request has failed it, and another one may as well.
            guard number(NAUTILUS_CURL_INFO_NUM_CONNECTS) == 0 else { return false }
            return admissions <= Self.mostRepeats
        }

        /// Whether the answer is complete, as far as its length tells.
        var isAnswerWhole: Bool {
            head.isComplete && (!head.hasBody(inAnswerTo: method) || head.contentLength == bodyCount)
        }

        /// Whether the body is not as long as announced. libcurl takes a stream that is reset without an error for one
        /// that has ended.
        var isCut: Bool {
            guard isMultiplexed, head.hasBody(inAnswerTo: method), let length = head.contentLength else { return false }
            return length != bodyCount
        }

        /// Notes how many exchanges with the server there may be at once, if it has answered.
        func learnLimit() {
            guard isMultiplexed, head.isComplete else { return }
            let isHttp2 = number(NAUTILUS_CURL_INFO_HTTP_VERSION) == CurlTransport.HttpVersion.http2Number
            learnedLimit = isHttp2 ? limits.streams : limits.connections
        }
    }
#endif
