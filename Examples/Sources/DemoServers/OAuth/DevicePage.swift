/// `GET /device`: where the user types what the device shows (RFC 8628 §3.3).
///
/// In a demo, opening the page with a code approves it, without a password or a question. A real server asks: somebody
/// else may have sent the link.
enum DevicePage {
    static func answer(_ request: ApiRequest, on server: inout AuthorizationServer, at now: Duration) -> ApiAnswer {
        guard let userCode = request.query.withoutEmpty["user_code"] else {
            return .page(200, title: "Connect a device", html: form)
        }
        guard server.devices.decide(.approve, userCode: userCode, at: now) else {
            return .page(400, title: "No device waits for this code", html: form)
        }
        return .page(200, title: "Device connected", html: "<p>You can close this page.</p>")
    }

    private static let form = """
        <form><label>Code: <input name="user_code" autocomplete="off"></label> <button>Connect</button></form>
        """
}
