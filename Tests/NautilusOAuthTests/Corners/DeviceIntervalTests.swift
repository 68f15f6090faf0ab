import Nautilus
import NautilusOAuth
import NautilusTesting
import Testing

@Suite("TokenEndpoint, the time between two polls")
struct DeviceIntervalTests {
    @Test(
        "F5: slow_down adds 5 s to the interval of a device's polls for good, whatever the status it comes with",
        arguments: [200, 302, 400, 401, 403, 404, 408, 425, 428, 429, 500, 503]
    )
    func slowDown(status: Int) async throws {
        let slowDown = ScriptedReply.json(["error": "slow_down"], status: status)
        let outcome = try await DeviceTests.signIn(slowDown, slowDown, slowDown, DeviceTests.success)
        #expect(outcome.polls == DeviceTests.seconds(5, 15, 30, 50))
        #expect(outcome.credential != nil)
    }

    @Test(
        "F5: authorization_pending keeps the interval of a device's polls, whatever the status it comes with",
        arguments: [200, 302, 400, 403, 404, 428, 429, 500, 503]
    )
    func pending(status: Int) async throws {
        let pending = ScriptedReply.json(["error": "authorization_pending"], status: status)
        let outcome = try await DeviceTests.signIn(pending, pending, DeviceTests.success)
        #expect(outcome.polls == DeviceTests.seconds(5, 10, 15))
        #expect(outcome.credential != nil)
    }

    @Test(
        "F5: access_denied and expired_token end a device's polls, whatever the status they come with",
        arguments: [200, 302, 400, 403, 429, 500, 503]
    )
    func ended(status: Int) async throws {
        for (code, kind) in [("access_denied", OAuthError.Kind.accessDenied), ("expired_token", .deviceCodeExpired)] {
            let outcome = try await DeviceTests.signIn(.json(["error": code], status: status))
            #expect(outcome.error?.kind == kind)
            #expect(outcome.error?.code == code)
            #expect(outcome.error?.httpError?.status == status)
            #expect(outcome.polls == DeviceTests.seconds(5))
        }
    }

    @Test(
        "F5: a longer interval that a refusal names holds for all further polls, and a shorter one brings none forward",
        arguments: [
            (#"{"error":"slow_down","interval":10}"#, [5, 15, 25]),
            (#"{"error":"slow_down","interval":60}"#, [5, 65, 125]),
            (#"{"error":"slow_down","interval":1}"#, [5, 15, 25]),
            (#"{"error":"slow_down","interval":"30"}"#, [5, 35, 65]),
            (#"{"error":"slow_down","interval":null}"#, [5, 15, 25]),
            (#"{"error":"slow_down","interval":-3}"#, [5, 15, 25]),
            (#"{"error":"authorization_pending","interval":20}"#, [5, 25, 45]),
            (#"{"error":"authorization_pending","interval":2}"#, [5, 10, 15]), (#"{"interval":20}"#, [5, 25, 45]),
        ]
    )
    func named(body: String, polls: [Int]) async throws {
        let refusal = ScriptedReply.reply(status: 429, text: body)
        let outcome = try await DeviceTests.signIn(refusal, DeviceTests.pending, DeviceTests.success)
        #expect(outcome.polls == polls.map { .seconds($0) })
        #expect(outcome.credential != nil)
    }

    @Test("F5: an interval too long for any clock ends a device's polls with its codes")
    func endless() async throws {
        let refusal = ScriptedReply.reply(status: 400, text: #"{"error":"slow_down","interval":1e300}"#)
        let outcome = try await DeviceTests.signIn(refusal)
        #expect(outcome.error?.kind == .deviceCodeExpired)
        #expect(outcome.end == .seconds(600))
    }

    @Test("F5: a slow_down's Retry-After is waited for once, its 5 s and its interval from then on")
    func retryAfter() async throws {
        let first = ScriptedReply.json(["error": "slow_down"], status: 429, header: ["Retry-After": "40"])
        let second = ScriptedReply.reply(
            status: 429,
            header: ["Retry-After": "3"],
            text: #"{"error":"slow_down","interval":17}"#
        )
        let outcome = try await DeviceTests.signIn(first, second, DeviceTests.pending, DeviceTests.success)
        #expect(outcome.polls == DeviceTests.seconds(5, 45, 62, 79))
        #expect(outcome.credential != nil)
    }

    @Test(
        "F5: another code with an overload or an outage is waited out by a device's polls, as for every token request"
    )
    func otherCodes() async throws {
        for status in [408, 425, 429, 500, 502, 503] {
            for code in ["invalid_grant", "invalid_client", "login_required"] {
                let outcome = try await DeviceTests.signIn(.json(["error": code], status: status), DeviceTests.success)
                #expect(outcome.polls == DeviceTests.seconds(5, 10))
                #expect(outcome.credential != nil)
            }
        }
    }
}
