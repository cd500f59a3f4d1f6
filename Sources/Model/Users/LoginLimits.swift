/// How often somebody at an address may fail to log in. Each failure is forgiven after a while; an address with too
/// many is refused until then.
public struct LoginLimits: Sendable {
    /// The most failures of an address that are not forgiven yet.
    public static let maximumFailures = 10
    /// The most addresses that are remembered; all others share one account.
    public static let maximumAddresses = 10_000
    private static let second: UInt64 = 1_000_000_000
    /// How long until one failure is forgiven.
    private static let forgiveness = 10 * second
    /// How long it takes to forgive as many failures as an address may have.
    private static let allowance = UInt64(maximumFailures - 1) * forgiveness
    /// The delays before a failure is answered, in milliseconds.
    private static let (shortestDelay, longestDelay): (UInt64, UInt64) = (50, 1_000)

    /// When the last failure of an address is forgiven, in nanoseconds.
    private var forgivenAt: [String: UInt64] = [:]
    /// The same, for all addresses that there was no room for.
    private var othersForgivenAt: UInt64 = 0

    /// No failures yet.
    public init() {}

    /// How many addresses are remembered.
    public var addressCount: Int { forgivenAt.count }

    /// How many seconds an address has to wait before it may try; 0 if it may.
    public func wait(of address: String, at now: UInt64) -> Int {
        let end = forgivenAt[address] ?? (isFull ? othersForgivenAt : 0)
        guard end > now + LoginLimits.allowance else { return 0 }
        return Int((end - now - LoginLimits.allowance + LoginLimits.second - 1) / LoginLimits.second)
    }

    /// Counts a failure.
    public mutating func failed(from address: String, at now: UInt64) {
        if forgivenAt[address] == nil, isFull { forgivenAt = forgivenAt.filter { $0.value > now } }
        let isOther = forgivenAt[address] == nil && isFull
        let before = max(now, isOther ? othersForgivenAt : forgivenAt[address] ?? 0)
        // More failures than it takes to be refused count no further: others may share the address.
        let end = min(before, now + LoginLimits.allowance) + LoginLimits.forgiveness
        if isOther { othersForgivenAt = end } else { forgivenAt[address] = end }
    }

    /// How many milliseconds to wait before a failure is answered: more with each that is not forgiven.
    public func delay(of address: String, at now: UInt64) -> UInt64 {
        let end = forgivenAt[address] ?? (isFull ? othersForgivenAt : 0)
        guard end > now else { return LoginLimits.shortestDelay }
        let failures = (end - now + LoginLimits.forgiveness - 1) / LoginLimits.forgiveness
        return min(LoginLimits.longestDelay, LoginLimits.shortestDelay << min(failures - 1, 10))
    }

    private var isFull: Bool { forgivenAt.count >= LoginLimits.maximumAddresses }
}
