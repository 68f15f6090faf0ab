import Nautilus
import NautilusOAuth

/// The page on which a user approves a device.
enum DevicePage {
    private struct Visit: Request {
        typealias Result = Void
        var route: HttpRoute { [] }
        var timeout: Duration? { .seconds(10) }
    }

    /// Opens the page with the code filled in, as a user's browser does.
    static func approve(_ authorization: DeviceAuthorization) async {
        do {
            guard let page = authorization.verificationUriComplete else { return }
            try await Visit().schedule(with: AnyHttpService(apiUrl: page.absoluteString))
            Output.line("The page has been opened and the code entered.")
        } catch {
            Output.error("notes: the page does not take the code; open it yourself")
        }
    }
}
