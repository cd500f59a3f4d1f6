extension OutletExchange.Outcome {
    /// The last line: what became of the outlets that were taken, and how many rows were not.
    func summary(of taken: Int, missing: Int, _ duration: Duration) -> String {
        var parts: [String] = []
        if created + changed + opened == 0 {
            parts.append("nothing changed")
        } else {
            parts.append(
                "\(created.grouped) created, \(changed.grouped) changed, \(unchanged.grouped) unchanged")
            parts.append("\(opened.grouped) opened")
        }
        if missing > 0 { parts.append("\(missing.counted("row")) not taken") }
        parts.append(duration.inSeconds)
        return "\(taken.counted("outlet")): \(parts.joined(separator: "; "))\n"
    }
}

extension MenuExchange.Outcome {
    /// The last line: what became of the menu.
    func summary(of what: String, _ duration: Duration) -> String {
        var parts: [String] = []
        if registered { parts.append("outlet created") }
        if opened { parts.append("outlet opened") }
        if changed, let version { parts.append("menu changed, version \(version)") }
        if parts.isEmpty { parts.append("nothing changed") }
        parts.append(duration.inSeconds)
        return "\(what): \(parts.joined(separator: "; "))\n"
    }
}

extension Duration {
    /// With one decimal: `1.9 s`.
    fileprivate var inSeconds: String {
        let tenths = (components.seconds * 10) + components.attoseconds / 100_000_000_000_000_000
        return "\((tenths / 10).grouped).\(tenths % 10) s"
    }
}
