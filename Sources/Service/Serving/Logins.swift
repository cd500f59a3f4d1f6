package import Application
internal import Domain
package import EventLoop
internal import Foundation
package import Users

/// Who can log in, and the checks of those who try.
///
/// A check takes a tenth of a second and 32 MB, so few run at once, off the loop, and few wait. The answer to a wrong
/// password is the same, after the same work, whether there is such a user or not. All fronts count failures together.
@LoopActor
package final class Logins {
    /// What became of an attempt.
    package enum Outcome {
        /// The user, as it was when that was found.
        case succeeded(User)
        /// The name or the password is wrong, or the user is disabled.
        case failed
        /// It was not tried.
        case refused(String)
    }

    /// Called with the outcome.
    package typealias Completion = @LoopActor (Outcome) -> Void

    /// The most checks at once: one processor is left for the loop.
    static let maximumChecks = min(2, max(1, ProcessInfo.processInfo.activeProcessorCount - 1))
    /// The most checks that wait for one of these: the last of them still ends within seconds.
    static let maximumWaiting = 16
    /// The most of them for one address.
    static let maximumWaitingOfAddress = 4

    /// One check, for everybody who tries the same name and password meanwhile.
    private struct Check {
        var name: Identifier?
        var password: [UInt8]
        var hash: PasswordHash?
        var address: String
        /// How often users had changed when it began.
        var generation: Int
        var completions: [Completion]
    }

    /// Who can log in.
    package private(set) var directory = UserDirectory()
    /// The attempts that failed or were refused, since the start or the last `CONFIG RESETSTAT`.
    package internal(set) var failureCount: Int64 = 0
    private var limits = LoginLimits()
    private var recent = RecentLogins()
    private var checks: [RecentLogins.Attempt: Check] = [:]
    private var waiting: [RecentLogins.Attempt] = []
    private var running = 0
    private var generation = 0
    private let matches: @concurrent @Sendable ([UInt8], PasswordHash) async -> Bool
    private let now: () -> UInt64

    /// - Parameters:
    ///   - matches: whether it is the password. Takes long, and no time of the loop's.
    ///   - now: the loop's clock, in nanoseconds.
    init(
        matches: @escaping @concurrent @Sendable ([UInt8], PasswordHash) async -> Bool = Logins.matches,
        now: @escaping () -> UInt64 = { LoopActor.now }
    ) {
        self.matches = matches
        self.now = now
    }

    /// Takes changes of users. Returns them with those that they imply.
    package func apply(_ changes: [UserChange], isEverything: Bool) -> [UserChange] {
        let changes = directory.apply(changes, isEverything: isEverything)
        generation += 1
        for change in changes { recent.changed(change.name) }
        return changes
    }

    /// Forgets what is too old.
    package func tidy() { recent.removeOld(at: now()) }

    /// Tries to log in, with a password or a token.
    ///
    /// - Parameters:
    ///   - address: where the client is, as `127.0.0.1:5000`.
    ///   - completion: called with the outcome, at once or later; after a failure, later still.
    package func logIn(_ name: [UInt8], _ password: [UInt8], from address: String, completion: @escaping Completion) {
        check(name, password, from: address) { [self] outcome in
            if case .succeeded = outcome {} else { failureCount += 1 }
            completion(outcome)
        }
    }

    private func check(_ name: [UInt8], _ password: [UInt8], from address: String, completion: @escaping Completion) {
        let now = now()
        let address = Logins.network(of: address)
        let identifier = name.withUnsafeBytes { Identifier(utf8: $0) }
        let user = identifier.flatMap { directory[$0] }
        let token = Token(password)
        // A token cannot be guessed, so its owner is let in however many logins of others have failed.
        if let user, let token, user.isEnabled, user.has(token) { return completion(.succeeded(user)) }
        guard token == nil, password.count <= PasswordHash.passwordLength.upperBound else {
            limits.failed(from: address, at: now)
            return fail(from: address, [completion])
        }
        let attempt = recent.attempt(name, password)
        guard !recent.hasFailed(attempt, at: now) else { return fail(from: address, [completion]) }
        let wait = limits.wait(of: address, at: now)
        guard wait == 0 else {
            return completion(
                .refused("too many failed logins from this address; try again in \(wait) second\(wait == 1 ? "" : "s")")
            )
        }
        if let user, user.isEnabled, recent.hasSucceeded(attempt, of: user.name, at: now) {
            return completion(.succeeded(user))
        }
        guard checks[attempt] == nil else {
            checks[attempt]?.completions.append(completion)
            return
        }
        guard waiting.count < Logins.maximumWaiting,
            checks.values.count(where: { $0.address == address }) < Logins.maximumWaitingOfAddress
        else { return completion(.refused("too many logins are being checked; try again")) }
        checks[attempt] = Check(
            name: user?.name, password: password, hash: user?.password, address: address, generation: generation,
            completions: [completion])
        waiting.append(attempt)
        startChecks()
    }

    private func startChecks() {
        while running < Logins.maximumChecks, !waiting.isEmpty {
            let attempt = waiting.removeFirst()
            guard let check = checks[attempt] else { preconditionFailure("a check that nobody waits for") }
            running += 1
            Task { @LoopActor in
                let isRight = await matches(check.password, check.hash ?? .ofNobody)
                running -= 1
                finish(attempt, isRight: isRight)
                startChecks()
            }
        }
    }

    /// Off the event loop.
    @concurrent
    nonisolated static func matches(_ password: [UInt8], _ hash: PasswordHash) async -> Bool { hash.matches(password) }

    private func finish(_ attempt: RecentLogins.Attempt, isRight: Bool) {
        guard let check = checks.removeValue(forKey: attempt) else { preconditionFailure("a check that ended twice") }
        // The user may have changed meanwhile.
        guard isRight, let user = check.name.flatMap({ directory[$0] }), user.isEnabled, user.password == check.hash
        else {
            limits.failed(from: check.address, at: now())
            // Since a change it may be right.
            if check.generation == generation { recent.failed(attempt, at: now()) }
            return fail(from: check.address, check.completions)
        }
        recent.succeeded(attempt, of: user.name, at: now())
        for completion in check.completions { completion(.succeeded(user)) }
    }

    private func fail(from address: String, _ completions: [Completion]) {
        _ = LoopTimer(milliseconds: limits.delay(of: address, at: now())) {
            for completion in completions { completion(.failed) }
        }
    }

    /// What an address is known by to the limits: without its port, and of IPv6 what one network has.
    package static func network(of address: String) -> String {
        let host = address.prefix(upTo: address.lastIndex(of: ":") ?? address.endIndex)
        guard host.hasPrefix("[") else { return String(host) }
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &bytes) == 1 else { return String(host) }
        return withUnsafeBytes(of: bytes) { bytes in
            // An address of IPv4 in one of IPv6 is told by its last bytes.
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return (isMapped ? bytes[...] : bytes.prefix(8)).map { "\($0)" }.joined(separator: ".")
        }
    }
}

extension Logins.Outcome {
    /// Why the login failed; nil if it succeeded.
    package var failure: Failure? {
        switch self {
        case .succeeded: nil
        case .failed: .wrongPassword
        case .refused(let reason): Failure(.busy, reason)
        }
    }
}

extension Failure {
    /// Redis's words for a wrong name or password.
    package static let wrongPassword = Failure(
        .wrongPassword, "invalid username-password pair or user is disabled.")
}
