extension HttpService {
    /// This service with another error type: for a module that gets its service from the app, or has no service type of
    /// its own.
    ///
    /// ```swift
    /// let notes = AnyHttpService(apiUrl: "api.example.com/v1").mappingErrors { NotesError($0) }
    /// let note = try await GetNote(id: 7).schedule(with: notes)  // throws NotesError
    /// ```
    /// Everything else is this service's own.
    ///
    /// - Parameter map: Makes the error that calls throw. It replaces this service's ``mapError(_:)``, which is not
    ///   called.
    public func mappingErrors<Mapped: Error>(
        _ map: @escaping @Sendable (_ error: HttpError) -> Mapped
    ) -> AnyHttpService<Mapped> {
        AnyHttpService(MappedService(base: AnyHttpService(self), map: map))
    }
}

/// Another service, with a different error type.
private struct MappedService<BaseError: Error, RequestError: Error>: ForwardingService {
    let base: AnyHttpService<BaseError>
    let map: @Sendable (HttpError) -> RequestError

    var forwarded: any HttpService { base.forwarded }
    var selectedService: AnyHttpService<RequestError>? { base.selectedService?.mappingErrors(map) }

    func mapError(_ error: HttpError) -> RequestError { map(error) }
}
