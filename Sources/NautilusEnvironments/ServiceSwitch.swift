import Foundation
import Nautilus
import Observation

/// A service for each environment, one of which is selected, such as staging for testers and production for everyone
/// else. The selection can change while the app runs. The switch is itself a service.
/// ```swift
/// let notes = ServiceSwitch(NotesEnvironment.production, remembering: .userDefaults("site")) { NotesService($0) }
/// notes.select(.staging)
/// ```
/// A call stays in the environment where it began, with all its attempts, as do the pages of a list and the connections
/// of a stream. Each environment's service is made once and kept. If the platform has Observation (iOS 17, macOS 14,
/// Linux), ``selected`` and ``service`` are observable.
///
/// A session must sign in and refresh through the service of its own environment, never through the switch: it could
/// send the session's secrets to another environment.
public final class ServiceSwitch<Environment: Hashable & Sendable, Service: HttpService>: ConfiguredService {
    /// The error that calls throw, which is the services' own.
    public typealias RequestError = Service.RequestError

    private struct State: Sendable {
        var selected: Environment
        /// The last selection that was remembered and reported.
        var reported: Environment
        /// Whether selections are being reported; a selection made meanwhile is then reported as well.
        var isReporting = false
        var services: [Environment: Service] = [:]

        init(_ environment: Environment) {
            (selected, reported) = (environment, environment)
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
    ///   - service: Makes an environment's service, when it is first needed. If two threads need it at the same time,
    ///     it may be made twice; one of the two is then dropped unused.
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

    /// The service of an environment, selected or not, for instance to sign out of it or to call two environments.
    public func service(for environment: Environment) -> Service {
        if let service = state.withLock({ $0.services[environment] }) { return service }
        // Not under the lock: `make` is the user's own code, and may use this switch.
        let service = make(environment)
        return state.withLock { state in
            let first = state.services[environment] ?? service
            state.services[environment] = first
            return first
        }
    }

    /// Selects an environment for calls that begin from now on; does nothing if it is selected already.
    ///
    /// Running calls are not cancelled; cancel them first if they are not wanted any more.
    public func select(_ environment: Environment) {
        guard state.withLock({ $0.selected }) != environment else { return }
        observed { state.withLock { $0.selected = environment } }
        report()
    }

    /// The selected environment, followed by each one that is selected from now on; a new stream for each access. A
    /// slow reader gets only the latest.
    public var selections: AsyncStream<Environment> { broadcast.stream(replayingLatest: true) }

    /// Remembers and reports selections one at a time, so that the last one reported is the one that stays selected. No
    /// lock is held meanwhile, since both call the app's own code.
    private func report() {
        let isBeingReported = state.withLock { state in
            defer { state.isReporting = true }
            return state.isReporting
        }
        guard !isBeingReported else { return }
        while let selection = nextSelection() {
            remember(selection)
            broadcast.send(selection)
        }
    }

    /// The selection to report next; nil if there is nothing new.
    private func nextSelection() -> Environment? {
        state.withLock { state in
            state.isReporting = state.reported != state.selected
            state.reported = state.selected
            return state.isReporting ? state.selected : nil
        }
    }

    private var present: Service { service(for: state.withLock { $0.selected }) }
}

extension ServiceSwitch where Environment: RawRepresentable, Environment.RawValue == String {
    /// Creates a switch that selects what was selected when the process last ended.
    ///
    /// - Parameters:
    ///   - environment: The environment that is selected when none is remembered, or when the remembered one no longer
    ///     exists.
    ///   - memory: Where the selection is kept. Give a public build no memory, so that the app from the store does not
    ///     keep a tester's selection.
    ///   - service: Makes an environment's service, when it is first needed. If two threads need it at the same time,
    ///     it may be made twice; one of the two is then dropped unused.
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
    /// The selected service's, to which calls that begin now keep.
    public var configuration: ServiceConfiguration {
        #if DEBUG
            TypeWarnings.refreshes.check(Self.self, isPartOfRefresh: CredentialWork.isRefresh)
        #endif
        let present = present
        return present.configuration.with { configuration in
            configuration.mapping = ErrorMapping(service: Self.self) { present.mapError($0) }
        }
    }

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
    /// The present origin of the switch's calls, without path and query, which may hold a key.
    public var description: String { "ServiceSwitch(\(AnyHttpService(present)))" }
}

/// The place where a ``ServiceSwitch`` keeps the name of the selected environment from one launch to the next.
public struct SelectionMemory: Sendable {
    let load: @Sendable () -> String?
    let save: @Sendable (String) -> Void

    /// Keeps the name wherever you like: a file, an argument of the command line, a launch argument of a test.
    ///
    /// - Parameters:
    ///   - load: Returns the name that was saved last; nil if none was. Called once, when the switch is created.
    ///   - save: Keeps a name. It is called for one selection at a time, on a thread that selects.
    public init(load: @escaping @Sendable () -> String?, save: @escaping @Sendable (String) -> Void) {
        (self.load, self.save) = (load, save)
    }

    /// Keeps the name for as long as this value and its copies are kept: for tests and previews, which should leave
    /// nothing on the device.
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
    ///   - suite: The suite of the defaults, as for `UserDefaults(suiteName:)`: for instance an app group's, so that
    ///     its extensions select the same. Default: nil, the app's own defaults, which are also used if there is no
    ///     such suite.
    public static func userDefaults(_ key: String, suite: String? = nil) -> SelectionMemory {
        // Made anew each time, since `UserDefaults` is not known to be safe to share on every platform.
        let defaults: @Sendable () -> UserDefaults = { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }
        return SelectionMemory {
            defaults().string(forKey: key)
        } save: {
            let defaults = defaults()
            defaults.set($0, forKey: key)
            #if !canImport(Darwin)
                // Without Darwin, the defaults are not written by themselves when the process ends.
                _ = defaults.synchronize()
            #endif
        }
    }
}
