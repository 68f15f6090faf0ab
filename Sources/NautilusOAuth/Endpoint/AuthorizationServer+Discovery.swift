import Foundation
import Nautilus

extension AuthorizationServer {
    /// Asks an issuer for its metadata (RFC 8414 §3).
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL, `https`, as the server itself writes it.
    ///   - document: Which document is read. Default: that of RFC 8414.
    ///   - transport: The transport that moves bytes. Default: the process's shared transport.
    ///   - retrierFactory: The retriers that repeat the request. Default: backoff with 3 attempts, as for tokens.
    ///   - clock: The clock that measures time and sleeps. Default: `ContinuousClock`, as for every service.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/issuerMismatch`` when the document is another issuer's (§3.3),
    ///   ``OAuthError/Kind/noEndpoint(name:)`` when it names no token endpoint, ``OAuthError/Kind/insecureUrl`` when
    ///   one of the URLs, or the issuer, is plain `http`.
    public static func discover(
        issuer: String,
        document: MetadataDocument = .oauth,
        transport: any HttpTransport = PlatformTransport.shared,
        retrierFactory: any RetrierFactory = BackoffRetrier.factory(maxAttempts: 3),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OAuthError) -> AuthorizationServer {
        let service = AnyHttpService(
            apiUrl: try document.url(of: issuer).text,
            retrierFactory: retrierFactory,
            transport: LimitedTransport(base: transport),
            clock: clock
        )
        let response: HttpResponse<Data>
        do throws(HttpError) {
            response = try await MetadataRequest().response(with: service)
        } catch {
            throw OAuthError(error, spends: false)
        }
        let metadata: ServerMetadata
        do throws(MalformedReply) {
            let contentType = response.header.values(of: .contentType).first
            metadata = try ServerMetadata(response.body, contentType: contentType)
        } catch {
            throw OAuthError(response, error)
        }
        return try metadata.server(of: issuer)
    }
}
