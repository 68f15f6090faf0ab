/// The environment that a service belongs to, to tell whether another service belongs to the same one.
enum ServiceEnvironment: Sendable, Hashable {
    /// One of a ``ServiceSwitch``; of one within another, an environment of each, the outermost first.
    case selected([SelectionMark])
    /// That of a service of whichever kind, by its base URL, since no more is known of it.
    case url(String, isSecure: Bool)

    /// The environment of a service that follows no selection itself.
    init(of service: some HttpService) {
        var marks: [SelectionMark] = []
        var inner: any HttpService = service
        while let wrapper = inner as? any ForwardingService {
            if let selected = wrapper as? any MarkedService { marks.append(selected.mark) }
            inner = wrapper.forwarded
        }
        self =
            marks.isEmpty
            ? .url(service.apiUrl.urlString, isSecure: service.usesSecureProtocol) : .selected(marks)
    }
}

/// An environment of a switch; equal only to itself.
final class SelectionMark: Sendable, Hashable {
    static func == (left: SelectionMark, right: SelectionMark) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
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
