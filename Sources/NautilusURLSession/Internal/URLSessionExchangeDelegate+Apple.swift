#if !canImport(FoundationNetworking)
    import Foundation
    import NautilusHTTP
    import Security

    extension PinnedKeys {
        /// Whether the certificate that a server has presented has one of the keys. The system judges everything else
        /// about it.
        func contain(keyOf challenge: URLAuthenticationChallenge) -> Bool {
            guard let trust = challenge.protectionSpace.serverTrust,
                let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let first = chain.first
            else { return false }
            return contain(keyOf: SecCertificateCopyData(first) as Data)
        }
    }

    extension URLSessionExchangeDelegate {
        /// Notes how the exchange got its connection.
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            guard let exchange = exchangeUnderWay(task), let last = metrics.transactionMetrics.last else { return }
            exchange.context.noteConnection(CallTrace.Exchange.Connection(last))
        }
    }

    extension CallTrace.Exchange.Connection {
        fileprivate init(_ metrics: URLSessionTaskTransactionMetrics) {
            guard !metrics.isReusedConnection else {
                self = .reused
                return
            }
            // `connectEndDate` includes the TLS handshake.
            let connected = metrics.secureConnectionStartDate ?? metrics.connectEndDate
            self.init(
                nameLookup: .between(metrics.domainLookupStartDate, metrics.domainLookupEndDate),
                connect: .between(metrics.connectStartDate, connected),
                secure: .between(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
            )
        }
    }

    extension Duration {
        /// The time from one date to a later one; zero if one is missing, or the clock was set back.
        fileprivate static func between(_ start: Date?, _ end: Date?) -> Duration {
            guard let start, let end, end > start else { return .zero }
            return .seconds(end.timeIntervalSince(start))
        }
    }
#endif
