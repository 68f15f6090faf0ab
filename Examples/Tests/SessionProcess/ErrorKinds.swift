import Nautilus
import NautilusOAuth

/// The kinds of an error and of those underneath, as names that a test can compare.
struct ErrorKinds {
    /// The names, the outermost error's first.
    let names: [String]

    init(_ error: any Error) {
        names =
            switch error {
            case let error as HttpError: [Self.name(of: error.kind)] + Self.names(of: error.underlying)
            case let error as RefreshError: Self.names(of: error)
            case let error as RefreshError.Terminal: Self.names(of: error.underlying)
            case let error as OAuthError: Self.names(of: error.kind)
            case let error as SessionError: Self.names(of: error)
            default: [String(describing: type(of: error))]
            }
    }

    private static func names(of error: (any Error)?) -> [String] {
        error.map { ErrorKinds($0).names } ?? []
    }

    private static func names(of error: RefreshError) -> [String] {
        switch error {
        case .signedOut: ["signedOut"]
        case .sessionExpired(let cause): ["sessionExpired"] + names(of: cause)
        case .failed(_, let cause): ["failed"] + names(of: cause)
        case .coolingDown(_, let cause): ["coolingDown"] + names(of: cause)
        case .tooManyRefreshes: ["tooManyRefreshes"]
        case .timedOut: ["timedOut"]
        case .superseded: ["superseded"]
        case .recursive: ["recursive"]
        case .foreignOrigin: ["foreignOrigin"]
        case .insecureOrigin: ["insecureOrigin"]
        }
    }

    private static func names(of kind: OAuthError.Kind) -> [String] {
        switch kind {
        case .invalidGrant: ["invalidGrant"]
        case .answerLost: ["answerLost"]
        case .unavailable: ["unavailable"]
        case .cancelled: ["cancelled"]
        default: ["\(kind)"]
        }
    }

    private static func names(of error: SessionError) -> [String] {
        switch error.kind {
        case .store(let error): ["store", name(of: error)]
        case .lockTimeout: ["lockTimeout"]
        case .lockLost: ["lockLost"]
        case .storeTimeout: ["storeTimeout"]
        case .superseded: ["superseded"]
        case .expired: ["expired"]
        case .notRevoked: ["notRevoked"] + names(of: error.underlying)
        case .cancelled: ["cancelled"]
        }
    }

    private static func name(of error: CredentialStoreError) -> String {
        switch error {
        case .damaged: "damaged"
        case .foreign: "foreign"
        case .newerFormat: "newerFormat"
        case .undecodable: "undecodable"
        case .sealedOtherwise: "sealedOtherwise"
        case .notPrivate: "notPrivate"
        case .full: "full"
        case .notDurable: "notDurable"
        case .notPermitted: "notPermitted"
        case .system(let operation, _, let code): "system \(operation) \(code)"
        case .other(let type): type
        }
    }

    private static func name(of kind: FailureKind) -> String {
        switch kind {
        case .authorization: "authorization"
        case .status(let status): "status \(status)"
        default: "\(kind)"
        }
    }
}
