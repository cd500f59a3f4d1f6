internal import CLibPQ
internal import EventLoop

/// The hosts that a database's address names, to be tried one by one: the last that answered first, and each with its
/// share of the time. libpq would try them in their order and spend all of the time on a first one that has vanished.
struct DatabaseHosts {
    /// What libpq is to use of each host.
    let settings: [[(name: String, value: String)]]

    /// - Returns: nil if libpq is to choose: where the address has one host or none, or the choice needs all of them.
    init?(_ address: String) {
        guard let options = PQconninfoParse(address, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var values: [String: [String]] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
                    .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
            option += 1
        }
        let (hosts, addresses) = (values["host"] ?? [], values["hostaddr"] ?? [])
        // An empty one would not override what the address says of all hosts.
        let ports = (values["port"] ?? []).map { $0.isEmpty ? DatabaseHosts.defaultPort : $0 }
        let count = max(hosts.count, addresses.count)
        guard count > 1, values["target_session_attrs"] != ["prefer-standby"],
            !(hosts + addresses).contains(""),
            [hosts.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }), [0, 1, count].contains(ports.count)
        else { return nil }
        settings = (0..<count).map { index in
            [("host", hosts), ("hostaddr", addresses), ("port", ports)].compactMap { name, values in
                values.isEmpty ? nil : (name, values[values.count == 1 ? 0 : index])
            }
        }
    }

    /// The port that libpq takes where none is given.
    private static var defaultPort: String {
        let options = PQconndefaults()
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option?.pointee.keyword {
            if String(cString: keyword) == "port", let value = option?.pointee.val { return String(cString: value) }
            option = option?.successor()
        }
        return "5432"
    }

    /// The host of each address that last answered.
    @LoopActor private static var lastGood: [String: Int] = [:]

    /// The hosts of an address in the order in which to try them.
    @LoopActor
    func order(for address: String) -> [Int] {
        let first = DatabaseHosts.lastGood[address] ?? 0
        return settings.indices.map { ($0 + first) % settings.count }
    }

    /// A host has answered. There are as many addresses as the process was started with.
    @LoopActor
    static func remember(_ host: Int, for address: String) { lastGood[address] = host }
}
