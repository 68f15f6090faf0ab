import Foundation
import Nautilus

extension TokenEndpoint {
    /// Asks for a token.
    ///
    /// - Parameter retrier: The retrier that repeats the request. Default: nil, the endpoint's own.
    func reply(to form: TokenForm, retrier: (any RetrierFactory)? = nil) async throws(OAuthError) -> TokenReply {
        let endpoint = try EndpointUrl(server.tokenEndpoint, name: "token_endpoint")
        return try await send(form, to: endpoint, retrier: retrier) { body, contentType throws(MalformedReply) in
            try TokenReply(body, contentType: contentType)
        }
    }

    /// Sends a form, with the client's identification, and reads the reply.
    ///
    /// - Parameters:
    ///   - form: The form, without the client.
    ///   - endpoint: The URL to send it to.
    ///   - retrier: The retrier that repeats the request. Default: nil, the endpoint's own.
    ///   - read: Reads a successful reply by its body and its `Content-Type`.
    /// - Throws: ``OAuthError``, for every failure and for a reply that cannot be read.
    func send<Reply>(
        _ form: TokenForm,
        to endpoint: EndpointUrl,
        retrier: (any RetrierFactory)? = nil,
        reading read: (_ body: Data, _ contentType: String?) throws(MalformedReply) -> Reply
    ) async throws(OAuthError) -> Reply {
        var form = form
        form.add(client.fields)
        var secrets = form.secrets
        if case .basic(let secret) = client.authentication, !secret.isEmpty { secrets.append(secret) }

        let response = try await response(to: form, from: endpoint, retrier ?? retrierFactory, hiding: secrets)
        do throws(MalformedReply) {
            guard (200...299).contains(response.status) else {
                throw MalformedReply("status \(response.status), a redirect, which is not followed with secrets")
            }
            return try read(response.body, response.header.values(of: .contentType).first)
        } catch {
            throw OAuthError(response, error, hiding: secrets)
        }
    }

    private func response(
        to form: TokenForm,
        from endpoint: EndpointUrl,
        _ retrier: any RetrierFactory,
        hiding secrets: [String]
    ) async throws(OAuthError) -> HttpResponse<Data> {
        var header: HttpHeader = [.accept: "application/json"]
        header[.authorization] = client.authorization
        let timeout = form.isRefresh ? refreshTimeout : timeout
        let request = FormRequest(form: form, header: header, timeout: timeout, deadline: deadline)
        let service = AnyHttpService(
            apiUrl: endpoint.text,
            retrierFactory: retrier,
            transport: LimitedTransport(base: transport),
            clock: clock
        )
        do throws(HttpError) {
            return try await request.response(with: service)
        } catch {
            throw OAuthError(error, hiding: secrets)
        }
    }
}
