import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The session's configuration")
struct SessionConfigurationTests {
    @Test("`adjust` cannot change the settings on which the transport depends")
    func mandatory() {
        let configuration = URLSessionTransport.Configuration(connectionsPerHost: 3) { configuration in
            configuration.urlCache = .shared
            configuration.httpCookieStorage = .shared
            configuration.httpShouldSetCookies = true
            configuration.httpCookieAcceptPolicy = .always
            configuration.urlCredentialStorage = .shared
            configuration.timeoutIntervalForRequest = 0.5
            configuration.timeoutIntervalForResource = 0.5
        }
        let session = configuration.sessionConfiguration()
        #expect(session.urlCache == nil)
        #expect(session.httpCookieStorage == nil)
        #expect(!session.httpShouldSetCookies)
        #expect(session.httpCookieAcceptPolicy == .never)
        #expect(session.urlCredentialStorage == nil)
        #expect(session.timeoutIntervalForRequest == URLSessionTransport.backstop)
        #expect(session.timeoutIntervalForResource == URLSessionTransport.backstop)
        #expect(session.httpMaximumConnectionsPerHost == 3)
    }

    @Test("a response may have 64 MiB, a body stream too, and a host six connections, unless the caller says otherwise")
    func defaults() {
        let configuration = URLSessionTransport.Configuration()
        #expect(configuration.responseLimit == 64 * 1024 * 1024)
        #expect(configuration.connectionsPerHost == 6)
        #expect(configuration.sessionConfiguration().httpMaximumConnectionsPerHost == 6)
    }

    @Test("`adjust` can change all other settings of the session")
    func adjustable() {
        let configuration = URLSessionTransport.Configuration { $0.allowsCellularAccess = false }
        #expect(!configuration.sessionConfiguration().allowsCellularAccess)
    }

    @Test("a request carries the backstop too: Foundation prefers a request's timeout to the session's")
    func requestTimeout() throws {
        let url = try #require(URL(string: "https://a.example/"))
        let request = try URLRequest(HttpRequest(url: url), body: nil)
        #expect(request.timeoutInterval == URLSessionTransport.backstop)
    }
}
