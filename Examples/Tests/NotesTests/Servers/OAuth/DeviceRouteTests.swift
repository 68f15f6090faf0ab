import DemoServers
import Foundation
import Testing

@Suite("Device routes", .timeLimit(.minutes(10)))
struct DeviceRouteTests {
    @Test("a device gets its codes, where its user goes, and how long and how often it may ask")
    func authorization() throws {
        let bench = OAuthBench()
        let answer = try #require(bench.post(.deviceAuthorization, ["client_id": "notes-app"]))
        let reply = answer.reply
        #expect(answer.status == 200)
        #expect(answer.header["Cache-Control"] == "no-store")
        #expect(reply.deviceCode?.hasPrefix("staging.device.1.") == true)
        #expect(reply.verificationUri == "http://127.0.0.1:8080/device")
        #expect(reply.verificationUriComplete == "http://127.0.0.1:8080/device?user_code=\(reply.userCode ?? "")")
        #expect(reply.expiresIn == 600)
        #expect(reply.interval == 5)
        #expect(bench.counters.deviceAuthorizations == 1)
    }

    @Test(
        "an interval is rounded up to whole seconds",
        arguments: [(.zero, 0), (.nanoseconds(1), 1), (.seconds(1), 1), (.seconds(1.5), 2)] as [(Duration, Int)]
    )
    func interval(interval: Duration, seconds: Int) {
        let bench = OAuthBench()
        bench.server.devices.rules.interval = interval
        #expect(bench.post(.deviceAuthorization, [:])?.reply.interval == seconds)
    }

    @Test(
        "a device that may not wait is told so, and does not",
        arguments: [
            (["client_id": "stranger"], "unauthorized_client"), (["scope": "notes.admin"], "invalid_scope"),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func refusals(form: KeyValuePairs<String, String>, error: String) {
        let bench = OAuthBench()
        let answer = bench.post(.deviceAuthorization, form)
        #expect(answer?.status == 400)
        #expect(answer?.reply.error == error)
        #expect(bench.counters.deviceAuthorizations == 0)
    }

    @Test("polls hear pending, slow_down, and at last the tokens of the scope that was asked for; all are counted")
    func polls() throws {
        let bench = OAuthBench()
        let codes = try #require(bench.post(.deviceAuthorization, ["scope": "notes.read"])).reply
        let deviceCode = codes.deviceCode ?? ""
        let early = [bench.poll(deviceCode), bench.poll(deviceCode)]
        #expect(early.map { $0?.reply.error } == ["authorization_pending", "slow_down"])
        #expect(early.map { $0?.status } == [400, 400])
        #expect(bench.get(.device, ["user_code": codes.userCode ?? ""])?.status == 200)
        let reply = try #require(bench.poll(deviceCode)).reply
        #expect(reply.scope == "notes.read")
        #expect(bench.refresh(reply.refreshToken ?? "")?.status == 200)
        #expect(bench.poll(deviceCode)?.reply.error == "invalid_grant")
        #expect(bench.counters.devicePolls == 4)
        #expect(bench.counters.slowDowns == 1)
        #expect(bench.counters.tokenRequests == [.deviceCode: 4, .refreshToken: 1])
    }

    @Test("a device hears that its user declined, or that its time is over")
    func endings() throws {
        let bench = OAuthBench()
        let declined = try #require(bench.post(.deviceAuthorization, [:])).reply
        let late = try #require(bench.post(.deviceAuthorization, [:])).reply
        let isDeclined = bench.server.devices.decide(.deny, userCode: declined.userCode ?? "", at: .zero)
        #expect(isDeclined)
        #expect(bench.poll(declined.deviceCode ?? "")?.reply.error == "access_denied")
        bench.now = .seconds(600)
        #expect(bench.poll(late.deviceCode ?? "")?.reply.error == "expired_token")
    }

    @Test("a device code is no good to another client")
    func otherClient() throws {
        let bench = OAuthBench()
        let codes = try #require(bench.post(.deviceAuthorization, [:])).reply
        #expect(bench.poll(codes.deviceCode ?? "", client: "pretender")?.reply.error == "invalid_grant")
        #expect(bench.poll(codes.deviceCode ?? "")?.reply.error == "authorization_pending")
    }

    @Test("the page asks for a code, says when none fits, and repeats nothing that it was given")
    func page() throws {
        let bench = OAuthBench()
        let empty = try #require(bench.get(.device))
        #expect(empty.status == 200)
        #expect(String(decoding: empty.body, as: UTF8.self).contains("name=\"user_code\""))
        let wrong = try #require(bench.get(.device, ["user_code": "<script>"]))
        #expect(wrong.status == 400)
        #expect(!String(decoding: wrong.body, as: UTF8.self).contains("<script>"))
    }
}
