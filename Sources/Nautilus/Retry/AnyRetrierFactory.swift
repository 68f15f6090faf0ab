/// A factory from a closure.
///
/// ```swift
/// var retrierFactory: any RetrierFactory { AnyRetrierFactory { MyRetrier(store: store) } }
/// ```
public struct AnyRetrierFactory: RetrierFactory {
    private let make: @Sendable (any Request) -> any Retrier

    /// Creates a factory whose retriers do not depend on the request.
    public init(_ make: @escaping @Sendable () -> any Retrier) {
        self.make = { _ in make() }
    }

    /// Creates a factory whose retriers depend on the request.
    public init(_ make: @escaping @Sendable (any Request) -> any Retrier) {
        self.make = make
    }

    /// A new retrier for a call of `request`.
    public func create<R: Request>(for request: R) -> any Retrier {
        make(request)
    }
}
