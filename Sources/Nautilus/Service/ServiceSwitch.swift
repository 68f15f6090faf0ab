import Foundation
import Observation

/// One service for each environment, of which one is selected and can be changed while the app runs: staging for
/// testers, production for everyone else.
///
/// ```swift
/// enum NotesEnvironment: String { case staging, production }
///
/// let notes = ServiceSwitch(NotesEnvironment.production, remembering: .userDefaults("environment")) { environment in
///     NotesService(environment)
/// }
/// notes.select(.staging)
/// let page = try await ListNotes().schedule(with: notes)
/// ```
/// It is itself a service, so that code that makes calls need not know of it. A call goes on to its end in the
/// environment where it began, with all its attempts, and so do the pages of a list, the connections of a stream and an
/// open web socket. Each environment's service is made once and kept, with its own session, cache and budget if it
/// makes those itself; a user who is signed in to one of them still is when it is selected again.
///
/// A session signs in and renews through the service of its own environment, never through the switch: another one may
/// be selected by then, and would be sent the session's secrets.
///
/// Where the platform has Observation (iOS 17, macOS 14, Linux), ``selected`` and ``service`` are observable: a view
/// that reads them is drawn anew.
public final class ServiceSwitch<Environment: Hashable & Sendable, Service: HttpService>: ForwardingService {
    /// The error that calls throw: that of the services.
    public typealias RequestError = Service.RequestError

    private struct State: Sendable {
        var selected: Environment
        /// The selection that was remembered and reported last.
        var told: Environment
        /// Whether selections are being reported; then one that is made meanwhile is reported as well.
        var isTelling = false
        var services: [Environment: Service] = [:]

        init(_ environment: Environment) {
            (selected, told) = (environment, environment)
        }
    }

    private let state: Locked<State>
    private let make: @Sendable (Environment) -> Service
    private let remember: @Sendable (Environment) -> Void
    private let broadcast: Broadcast<Environment>
    /// The platform's registrar of observers; nil where it has none.
    private let registrar: (any Sendable)?

    /// Creates a switch that forgets what was selected when the process ends.
    ///
    /// - Parameters:
    ///   - environment: The environment that is selected first.
    ///   - service: Makes an environment's service, when it is first needed. When two threads need it at once it may be
    ///     made twice, of which one is dropped unused.
    public convenience init(_ environment: Environment, service: @escaping @Sendable (Environment) -> Service) {
        self.init(environment, remember: { _ in }, service)
    }

    private init(
        _ environment: Environment,
        remember: @escaping @Sendable (Environment) -> Void,
        _ make: @escaping @Sendable (Environment) -> Service
    ) {
        state = Locked(State(environment))
        broadcast = Broadcast(bufferLimit: 1, latest: environment)
        self.remember = remember
        self.make = make
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
            registrar = ObservationRegistrar()
        } else {
            registrar = nil
        }
    }

    /// The environment that is selected.
    public var selected: Environment {
        noteReading()
        return state.withLock { $0.selected }
    }

    /// The service of the environment that is selected.
    public var service: Service {
        noteReading()
        return present
    }

    /// The service of an environment, selected or not: to sign out of it, or to call both.
    public func service(for environment: Environment) -> Service {
        if let service = state.withLock({ $0.services[environment] }) { return service }
        // Not under the lock: it is the user's own code, and may ask this switch.
        let service = make(environment)
        return state.withLock { state in
            let first = state.services[environment] ?? service
            state.services[environment] = first
            return first
        }
    }

    /// Selects an environment, for calls that begin from now on; does nothing when it is selected already.
    ///
    /// Running calls are not cancelled: end them first where they are not wanted any more.
    public func select(_ environment: Environment) {
        guard state.withLock({ $0.selected }) != environment else { return }
        observed { state.withLock { $0.selected = environment } }
        tell()
    }

    /// The environment that is selected, and every one that is from now on: a new stream for each access. A slow reader
    /// gets the latest alone.
    public var selections: AsyncStream<Environment> { broadcast.stream(replayingLatest: true) }

    /// Has the selection remembered and reported, one after the other: the last is the one that stays selected. No lock
    /// is held meanwhile, since both run other people's code.
    private func tell() {
        let isTold = state.withLock { state in
            defer { state.isTelling = true }
            return state.isTelling
        }
        guard !isTold else { return }
        while let news = news() {
            remember(news)
            broadcast.send(news)
        }
    }

    /// The selection to report next; nil when there is none.
    private func news() -> Environment? {
        state.withLock { state in
            state.isTelling = state.told != state.selected
            state.told = state.selected
            return state.isTelling ? state.selected : nil
        }
    }

    private var present: Service { service(for: state.withLock { $0.selected }) }
}

extension ServiceSwitch where Environment: RawRepresentable, Environment.RawValue == String {
    /// Creates a switch that selects what was selected when the process last ended.
    ///
    /// - Parameters:
    ///   - environment: The environment that is selected when none is remembered, or one that there is no more.
    ///   - memory: Where the selection is kept. Give a build for everybody none, so that a tester's selection does not
    ///     stay with the app from the store.
    ///   - service: Makes an environment's service, when it is first needed. When two threads need it at once it may be
    ///     made twice, of which one is dropped unused.
    public convenience init(
        _ environment: Environment,
        remembering memory: SelectionMemory,
        service: @escaping @Sendable (Environment) -> Service
    ) {
        let remembered = memory.load().flatMap { Environment(rawValue: $0) }
        self.init(remembered ?? environment, remember: { memory.save($0.rawValue) }, service)
    }
}

/// As the service of the selected environment.
extension ServiceSwitch {
    /// The selected environment's service: calls stay with it.
    public var selectedService: AnyHttpService<Service.RequestError>? { AnyHttpService(present) }
    /// The selected environment's service.
    public var forwarded: any HttpService { present }

    /// The selected service's.
    public func mapError(_ error: HttpError) -> Service.RequestError { present.mapError(error) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension ServiceSwitch: Observable {}

extension ServiceSwitch {
    private func noteReading() {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        (registrar as? ObservationRegistrar)?.access(self, keyPath: \.selected)
    }

    /// Makes a change that observers are notified of.
    private func observed(_ change: () -> Void) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *), let registrar = registrar as? ObservationRegistrar
        else { return change() }
        registrar.withMutation(of: self, keyPath: \.selected, change)
    }
}

extension ServiceSwitch: Redacted {
    /// The present origin of its calls; neither path nor query, which may hold a key.
    public var description: String { "ServiceSwitch(\(AnyHttpService(present)))" }
}

/// The place in which a ``ServiceSwitch`` keeps the name of the selected environment, from one launch to the next.
public struct SelectionMemory: Sendable {
    let load: @Sendable () -> String?
    let save: @Sendable (String) -> Void

    /// Keeps the name wherever you like: a file, an argument of the command line, a launch argument of a test.
    ///
    /// - Parameters:
    ///   - load: The name that was saved last; nil when none was. Asked once, when the switch is made.
    ///   - save: Keeps a name. It is called for one selection after the other, on the thread that selects.
    public init(load: @escaping @Sendable () -> String?, save: @escaping @Sendable (String) -> Void) {
        (self.load, self.save) = (load, save)
    }

    /// Keeps the name for as long as this value and its copies are kept: for tests and previews, in which nothing is to
    /// stay on the device.
    ///
    /// - Parameter name: The name that is remembered from the beginning. Default: nil, none.
    public static func inMemory(_ name: String? = nil) -> SelectionMemory {
        let kept = Locked(name)
        return SelectionMemory(load: { kept.withLock { $0 } }, save: { name in kept.withLock { $0 = name } })
    }

    /// Keeps the name in the user's defaults.
    ///
    /// - Parameters:
    ///   - key: The name of the default.
    ///   - suite: The suite of the defaults, as for `UserDefaults(suiteName:)`: an app group's, so that its extensions
    ///     select the same. Default: nil, the app's own, which also holds where there is no such suite.
    public static func userDefaults(_ key: String, suite: String? = nil) -> SelectionMemory {
        // Made anew each time: it is not known to be safe to share on every platform.
        let defaults: @Sendable () -> UserDefaults = { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }
        return SelectionMemory {
            defaults().string(forKey: key)
        } save: {
            let defaults = defaults()
            defaults.set($0, forKey: key)
            #if !canImport(Darwin)
                // There, they are not written by themselves when the process ends.
                _ = defaults.synchronize()
            #endif
        }
    }
}
