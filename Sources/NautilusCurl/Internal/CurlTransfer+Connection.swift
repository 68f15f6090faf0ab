#if os(Linux)
    internal import CNautilusCurl
    import NautilusHTTP

    /// The connection of a transfer: how it was made, and what an answer means that comes before the request is sent.
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

        /// Whether the answer is complete, as far as its length tells.
        var isAnswerWhole: Bool {
            head.isComplete && (!head.hasBody(inAnswerTo: method) || head.contentLength == bodyCount)
        }

        /// Ends the transfer if its answer is complete and only the rest of the request's body keeps it going, of which
        /// the server may never read another byte. libcurl would wait for it.
        ///
        /// - Returns: Whether that is the case.
        func endIfOverdue() -> Bool {
            guard isAnswerWhole else { return false }
            end(CurlFailure.aborted)
            return true
        }

        /// Lets libcurl notice that an answer is complete which came before all of the request's body was sent: libcurl
        /// sends no more of that body, but would wait for it while it is paused.
        func lookAgain() {
            if let handle { nautilus_easy_resume(handle.easy) }
        }
    }
#endif
