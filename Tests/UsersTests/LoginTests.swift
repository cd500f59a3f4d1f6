import Domain
import SeededRandom
import Testing

@testable import Users

@Suite struct LoginTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start = 1_000 * second

    private static func limits(failures: Int, of address: String = "a") -> LoginLimits {
        var limits = LoginLimits()
        for _ in 0..<failures { limits.failed(from: address, at: start) }
        return limits
    }

    @Test func `An address is refused after its tenth failure, until one is forgiven`() {
        #expect(Self.limits(failures: 9).wait(of: "a", at: Self.start) == 0)
        let limits = Self.limits(failures: 10)
        #expect(limits.wait(of: "a", at: Self.start) == 10)
        #expect(limits.wait(of: "a", at: Self.start + 9 * Self.second) == 1)
        #expect(limits.wait(of: "a", at: Self.start + 10 * Self.second) == 0)
        #expect(limits.wait(of: "b", at: Self.start) == 0)
    }

    @Test func `However often an address fails, it is not refused for longer`() {
        #expect(Self.limits(failures: 1_000).wait(of: "a", at: Self.start) == 10)
    }

    @Test func `Each failure delays the answer to it more, up to a second, until it is forgiven`() {
        let delays = (1...8).map { Self.limits(failures: $0).delay(of: "a", at: Self.start) }
        #expect(delays == [50, 100, 200, 400, 800, 1_000, 1_000, 1_000])
        #expect(Self.limits(failures: 8).delay(of: "a", at: Self.start + 100 * Self.second) == 50)
        #expect(Self.limits(failures: 1_000).delay(of: "a", at: Self.start) == 1_000)
    }

    @Test func `However many addresses fail, few are remembered, and the others share one account`() {
        var limits = LoginLimits()
        for number in 0..<20_000 { limits.failed(from: "\(number)", at: Self.start) }
        #expect(limits.addressCount == LoginLimits.maximumAddresses)
        #expect(limits.wait(of: "new", at: Self.start) > 0)
        #expect(limits.wait(of: "7", at: Self.start) == 0)
        // What is forgiven makes room.
        limits.failed(from: "late", at: Self.start + 200_000 * Self.second)
        #expect(limits.addressCount == 1)
    }

    @Test func `What succeeded is remembered for a minute, for that user and password`() {
        let (anna, bert) = (Identifier("anna")!, Identifier("bert")!)
        var recent = RecentLogins()
        let right = recent.attempt(Array("anna".utf8), Array("secret".utf8))
        recent.succeeded(right, of: anna, at: Self.start)
        #expect(recent.hasSucceeded(right, of: anna, at: Self.start + 59 * Self.second))
        #expect(!recent.hasSucceeded(right, of: anna, at: Self.start + 60 * Self.second))
        #expect(!recent.hasSucceeded(right, of: bert, at: Self.start))
        let other = recent.attempt(Array("annas".utf8), Array("ecret".utf8))
        #expect(other != right && !recent.hasSucceeded(other, of: anna, at: Self.start))
        recent.changed(bert)
        #expect(recent.hasSucceeded(right, of: anna, at: Self.start))
        recent.changed(anna)
        #expect(!recent.hasSucceeded(right, of: anna, at: Self.start))
    }

    @Test func `What failed is remembered until a user changes`() {
        var recent = RecentLogins()
        let wrong = recent.attempt([1], [2])
        recent.failed(wrong, at: Self.start)
        #expect(recent.hasFailed(wrong, at: Self.start) && !recent.hasFailed(wrong, at: Self.start + 60 * Self.second))
        #expect(!recent.hasFailed(recent.attempt([1], [3]), at: Self.start))
        recent.changed(Identifier("anybody")!)
        #expect(!recent.hasFailed(wrong, at: Self.start))
    }

    @Test func `From the first user on a login is needed, even when the last one is removed`() {
        let anna = Identifier("anna")!
        var directory = UserDirectory()
        #expect(directory.apply([], isEverything: true).isEmpty && !directory.requiresLogin)
        directory.apply([UserChange(anna, nil)])
        #expect(!directory.requiresLogin)
        directory.apply([UserChange(anna, User(anna, role: .admin, isEnabled: false))])
        #expect(directory.requiresLogin && directory[anna] != nil)
        let removed = directory.apply([], isEverything: true)
        #expect(removed.map(\.name) == [anna] && removed[0].user == nil)
        #expect(directory.requiresLogin && directory.count == 0)
    }
}
