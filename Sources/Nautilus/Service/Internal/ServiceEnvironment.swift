/// The environment that a service belongs to, to tell whether another service belongs to the same one.
enum ServiceEnvironment: Sendable, Equatable {
    /// One of a ``ServiceSwitch``.
    case selected(SelectionMark)
    /// That of a service of whichever kind, by its base URL, since no more is known of it.
    case url(String, isSecure: Bool)

    /// The environment of a service that follows no selection itself.
    init(of service: some HttpService) {
        var inner: any HttpService = service
        while true {
            if let selected = inner as? any MarkedService {
                self = .selected(selected.mark)
                return
            }
            guard let wrapper = inner as? any ForwardingService else { break }
            inner = wrapper.forwarded
        }
        self = .url(service.apiUrl.urlString, isSecure: service.usesSecureProtocol)
    }
}

/// An environment of a switch; equal only to itself.
final class SelectionMark: Sendable, Equatable {
    static func == (left: SelectionMark, right: SelectionMark) -> Bool { left === right }
}

/// A service that knows its environment.
private protocol MarkedService: HttpService {
    var mark: SelectionMark { get }
}

/// The service of one environment of a switch.
struct SelectedService<RequestError: Error>: ForwardingService, MarkedService {
    let base: AnyHttpService<RequestError>
    fileprivate let mark = SelectionMark()

    init(base: AnyHttpService<RequestError>) {
        self.base = base
    }

    var forwarded: any HttpService { base.forwarded }
    var selectedService: AnyHttpService<RequestError>? { base.selectedService }

    func mapError(_ error: HttpError) -> RequestError { base.mapError(error) }
}
