extension DemoServer {
    /// Approves a device, as its user would.
    ///
    /// - Parameter userCode: The code that the device shows; neither case nor hyphens matter.
    /// - Returns: False when no device waits for this code.
    @discardableResult
    public func approve(userCode: String) async -> Bool {
        await backend.access { $0.devices.decide(.approve, userCode: userCode, at: $1) }
    }

    /// Declines a device, as its user would.
    ///
    /// - Parameter userCode: The code that the device shows; neither case nor hyphens matter.
    /// - Returns: False when no device waits for this code.
    @discardableResult
    public func deny(userCode: String) async -> Bool {
        await backend.access { $0.devices.decide(.deny, userCode: userCode, at: $1) }
    }

    /// Changes how devices wait. Interval and lifetime hold for devices that begin to wait from now on, the automatic
    /// approval for all.
    public func setDeviceRules(_ rules: DemoDeviceRules) async {
        await backend.access { server, _ in server.devices.rules = rules }
    }
}
