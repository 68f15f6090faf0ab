extension Collection where Element == any HttpInterceptor {
    /// Asks all of them, and takes nothing unless all let it go.
    ///
    /// - Returns: The closure that gives everything back; or the type of the one that would hold it back.
    func admitSecondSend(
        of request: HttpRequest,
        context: AttemptContext
    ) -> Result<@Sendable () -> Void, SecondSendRefusal> {
        var ends: [@Sendable () -> Void] = []
        for interceptor in self {
            switch interceptor.admitSecondSend(of: request, context: context) {
            case .admitted(let atEnd):
                if let atEnd { ends.append(atEnd) }
            case .refused:
                for end in ends.reversed() { end() }
                return .failure(SecondSendRefusal(interceptor: "\(type(of: interceptor))"))
            }
        }
        return .success { [ends] in for end in ends.reversed() { end() } }
    }
}

/// The interceptor that would hold a second send back.
struct SecondSendRefusal: Error {
    let interceptor: String
}
