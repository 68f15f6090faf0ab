import Foundation
import NautilusSessions
import SecurityStandIn

extension StoreSubject {
    static let all = [
        StoreSubject(testDescription: "KeychainStore", keepsBytes: true) {
            let folder = try TestFolder()
            return StorePlace(store: { KeychainStore(lockFolder: folder.store) }) { data, key in
                KeychainStandIn.shared.plant(data, service: key.service, account: key.account)
            }
        }
    ]
}

extension CredentialKey {
    /// The service name of its items.
    var service: String { "\(issuer) \(client)" }
}
