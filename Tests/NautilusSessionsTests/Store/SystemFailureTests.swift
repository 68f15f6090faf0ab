import Foundation
import Nautilus
import Testing

@testable import NautilusSessions

@Suite("Failures of the system in a store")
struct SystemFailureTests {
    @Test(
        "a disk without room, and a place without permission, have errors of their own; the rest keeps its number",
        arguments: [
            (ENOSPC, CredentialStoreError.full(place: "p")), (EDQUOT, .full(place: "p")),
            (EACCES, .notPermitted(place: "p")), (EPERM, .notPermitted(place: "p")), (EROFS, .notPermitted(place: "p")),
            (ELOOP, .foreign(place: "p")), (EIO, .system(operation: "write", place: "p", code: Int(EIO))),
        ]
    )
    func meaning(code: Int32, error: CredentialStoreError) {
        #expect(SystemFailure("write", code: code).at("p") == error)
    }
}
