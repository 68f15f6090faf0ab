/// The environment that a service belongs to, to tell whether another service belongs to the same one.
struct ServiceEnvironment: Sendable, Hashable {
    private let selection: [SelectionMark]
    /// The base URL without its query, which may be a signature. It tells the environments of a service apart that is
    /// no switch, or has one within it.
    private let place: String
    private let isSecure: Bool

    /// The environment of a service that follows no selection itself.
    init(of service: some HttpService) {
        selection = Self.selection(of: service)
        // Unchecked: invalid URLs may belong to different environments, too.
        let url = service.apiUrl.urlString
        place = String(url[..<(url.utf8.firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex)])
        isSecure = service.usesSecureProtocol
    }

    /// The environments of switches that a service belongs to, the outermost first; empty for a service of another kind.
    static func selection(of service: some HttpService) -> [SelectionMark] {
        var marks: [SelectionMark] = []
        var inner: any HttpService = service
        while let wrapper = inner as? any ForwardingService {
            if let selected = wrapper as? any MarkedService { marks.append(selected.mark) }
            inner = wrapper.forwarded
        }
        return marks
    }
}

/// A service that knows its environment.
private protocol MarkedService: HttpService {
    var mark: SelectionMark { get }
}

/// The service of one environment of a switch.
struct SelectedService<RequestError: Error>: ForwardingService, MarkedService {
    let base: AnyHttpService<RequestError>
    fileprivate let mark: SelectionMark

    init(base: AnyHttpService<RequestError>) {
        self.init(base: base, mark: SelectionMark())
    }

    private init(base: AnyHttpService<RequestError>, mark: SelectionMark) {
        (self.base, self.mark) = (base, mark)
    }

    var forwarded: any HttpService { base.forwarded }
    /// The selection of a switch within this environment, still of this environment.
    var selectedService: AnyHttpService<RequestError>? {
        base.selectedService.map { AnyHttpService(SelectedService(base: $0, mark: mark)) }
    }

    func mapError(_ error: HttpError) -> RequestError { base.mapError(error) }
}
