import Foundation
import NautilusSessions

extension StoreSubject {
    /// The stores of the library that compile everywhere; `Tests/Integration` has the same tests for `KeychainStore`.
    static let all = [memory, file]

    private static let memory = StoreSubject(testDescription: "MemoryStore", keepsBytes: false) {
        let store = MemoryStore()
        return StorePlace(store: { store }, plant: { _, _ in })
    }

    private static let file = StoreSubject(testDescription: "FileStore", keepsBytes: true) {
        let folder = try TestFolder()
        return StorePlace(store: { FileStore(folder: folder.store) }) { data, key in
            // Whatever the file is called: it is the one that is there after a save.
            try await FileStore(folder: folder.store).save(.first, for: key)
            try data.write(to: folder.credentialFile())
        }
    }
}
