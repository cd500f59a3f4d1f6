public import Domain

/// What came of logins not long ago, so that the same one again costs no check: a pool of connections costs one, and a
/// program that repeats a wrong password is neither expensive nor counted as one that guesses.
///
/// Attempts are kept as digests that are of no use outside this process.
public struct RecentLogins: Sendable {
    /// Stands for a user's name and a password that was tried.
    public struct Attempt: Hashable, Sendable {
        fileprivate let digest: [UInt8]
    }

    /// The most failed attempts that are remembered.
    public static let maximumFailed = 1_000
    /// How long an attempt is remembered, in nanoseconds.
    private static let lifetime: UInt64 = 60_000_000_000

    private let keyed = KeyedDigest()
    /// The last of each user that succeeded.
    private var succeeded: [Identifier: (attempt: Attempt, until: UInt64)] = [:]
    private var failed: [Attempt: UInt64] = [:]

    /// None yet.
    public init() {}

    /// What stands for an attempt.
    public func attempt(_ name: [UInt8], _ password: [UInt8]) -> Attempt {
        // The length keeps "ab" and "c" apart from "a" and "bc".
        Attempt(digest: keyed.of([UInt8(name.count >> 8 & 255), UInt8(name.count & 255)] + name + password))
    }

    /// Whether this attempt of a user succeeded not long ago.
    public func hasSucceeded(_ attempt: Attempt, of name: Identifier, at now: UInt64) -> Bool {
        guard let known = succeeded[name], now < known.until else { return false }
        return ConstantTime.equal(known.attempt.digest, attempt.digest)
    }

    /// Whether this attempt failed not long ago.
    public func hasFailed(_ attempt: Attempt, at now: UInt64) -> Bool { failed[attempt].map { now < $0 } ?? false }

    /// Remembers an attempt that succeeded.
    public mutating func succeeded(_ attempt: Attempt, of name: Identifier, at now: UInt64) {
        succeeded[name] = (attempt, now + RecentLogins.lifetime)
    }

    /// Remembers an attempt that failed.
    public mutating func failed(_ attempt: Attempt, at now: UInt64) {
        if failed.count >= RecentLogins.maximumFailed { failed = [:] }
        failed[attempt] = now + RecentLogins.lifetime
    }

    /// Forgets what a change of a user may have made untrue.
    public mutating func changed(_ name: Identifier) {
        succeeded[name] = nil
        failed = [:]
    }

    /// Forgets what is too old.
    public mutating func removeOld(at now: UInt64) {
        if succeeded.values.contains(where: { $0.until <= now }) {
            succeeded = succeeded.filter { $0.value.until > now }
        }
    }
}
