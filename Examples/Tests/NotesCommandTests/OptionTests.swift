import Foundation
import Testing

@testable import notes

@Suite("notes: options and words")
struct OptionTests {
    @Test(
        "a server is scheme, host and port; a slash behind it is dropped, anything else is not taken",
        arguments: [
            ("http://127.0.0.1:8480", "http://127.0.0.1:8480"), ("https://notes.example/", "https://notes.example"),
            ("notes.example", nil), ("ftp://notes.example", nil), ("https://notes.example/v1", nil),
            ("https://user@notes.example", nil), ("https://notes.example?a", nil), ("https://", nil), ("", nil),
        ] as [(String, String?)]
    )
    func server(_ text: String, _ expected: String?) {
        #expect(ServerUrl(argument: text)?.description == expected)
    }

    @Test(
        "a word of a printed command can be copied into a shell",
        arguments: [
            ("/tmp/a-b_c.d", "/tmp/a-b_c.d"), ("two words", "'two words'"), ("it's", #"'it'\''s'"#), ("", "''"),
        ]
    )
    func shellWord(_ text: String, _ expected: String) {
        #expect(ShellWord(text).description == expected)
    }

    @Test(
        "durations are said in one unit",
        arguments: [
            (0, "0 s"), (119, "119 s"), (120, "2 min"), (3_599, "60 min"), (7_199, "120 min"), (7_200, "2 h"),
            (172_799, "48 h"), (172_800, "2 days"),
        ]
    )
    func rough(_ seconds: Int, _ expected: String) {
        #expect(Duration.seconds(seconds).rough == expected)
    }

    #if os(Linux)
        @Test(
            "the state directory of the user is where XDG says, if that is an absolute path",
            arguments: [("/srv/state", "/srv/state/notes/credentials"), ("state", nil), ("", nil)]
                as [(String, String?)]
        )
        func stateDirectory(_ variable: String, _ expected: String?) {
            let home = FileManager.default.homeDirectoryForCurrentUser.path
            let folder = StoreFolder.standard(environment: ["XDG_STATE_HOME": variable])
            #expect(folder.path == expected ?? home + "/.local/state/notes/credentials")
        }
    #endif
}
