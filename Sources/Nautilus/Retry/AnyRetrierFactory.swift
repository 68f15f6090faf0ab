/// A factory from a closure.
///
/// ```swift
/// var retrierFactory: any RetrierFactory { AnyRetrierFactory { MyRetrier(store: store) } }
/// ```
public struct AnyRetrierFactory: RetrierFactory {
    private let base: any RetrierFactory

    /// Creates a factory whose retriers do not depend on the request.
    ///
    /// - Parameters:
    ///   - policies: Their limits, as in ``RetrierFactory/policies``. Default: none, nothing is known of them.
    ///   - make: Makes the retrier of a call.
    public init(policies: [RetryPolicy] = [], _ make: @escaping @Sendable () -> any Retrier) {
        self.base = ClosureFactory(policies: policies) { _ in make() }
    }

    /// Creates a factory whose retriers depend on the request.
    ///
    /// - Parameters:
    ///   - policies: Their limits, as in ``RetrierFactory/policies``. Default: none, nothing is known of them.
    ///   - make: Makes the retrier of a call of the request.
    public init(policies: [RetryPolicy] = [], _ make: @escaping @Sendable (any Request) -> any Retrier) {
        self.base = ClosureFactory(policies: policies, make: make)
    }

    /// Hides the type of a factory.
    init(_ base: any RetrierFactory) {
        self.base = base
    }

    /// A new retrier for a call of `request`.
    public func create<R: Request>(for request: R) -> any Retrier {
        base.create(for: request)
    }

    /// The limits of its retriers, as far as they are known.
    public var policies: [RetryPolicy] { base.policies }
}

private struct ClosureFactory: RetrierFactory {
    let policies: [RetryPolicy]
    let make: @Sendable (any Request) -> any Retrier

    func create<R: Request>(for request: R) -> any Retrier {
        make(request)
    }
}
