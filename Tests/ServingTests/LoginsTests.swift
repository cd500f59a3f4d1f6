import Domain
import EventLoop
import Testing
import Users

@testable import Application
@testable import Serving

@Suite(.timeLimit(.minutes(1))) struct LoginsTests {
    init() { LoopActor.startInBackground() }

    /// Logins whose checks end when a test says so, and whose clock it moves. The right password is `right password`.
    @LoopActor
    private final class Door {
        private(set) var checks = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []
        var isHolding = false
        var now: UInt64 = 1_000_000_000_000
        private(set) var outcomes: [String] = []
        private(set) lazy var logins = Logins(
            matches: { [unowned self] password, _ in
                await check()
                return password == Array("right password".utf8)
            }, now: { [unowned self] in self.now })

        private func check() async {
            checks += 1
            if isHolding { await withCheckedContinuation { waiting.append($0) } }
        }

        /// Ends the checks that are under way, and those that begin from now on.
        func release() {
            isHolding = false
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func change(_ user: User) { _ = logins.apply([UserChange(user.name, user)], isEverything: false) }

        /// Begins to log in.
        func knock(_ name: String, _ password: String = "right password", from address: String = "10.0.0.1:5000") {
            logins.logIn(Array(name.utf8), Array(password.utf8), from: address) { [self] outcome in
                switch outcome {
                case .succeeded(let user): outcomes.append("\(user.name)")
                case .failed: outcomes.append("failed")
                case .refused(let reason): outcomes.append(reason)
                }
            }
        }

        /// The outcomes since this was last asked, as soon as there are so many.
        func outcomes(_ count: Int) async -> [String] {
            await turns { outcomes.count >= count }
            defer { outcomes = [] }
            return outcomes
        }
    }

    private static let asha = User("asha", role: .customer, password: .ofNobody)

    @Test @LoopActor func `the same attempt is checked once, for everybody who makes it`() async {
        let door = Door()
        door.change(Self.asha)
        door.isHolding = true
        for client in 0..<10 { door.knock("asha", from: "10.0.0.\(client):1") }
        await turns { door.checks == 1 }
        door.release()
        #expect(await door.outcomes(10) == Array(repeating: "asha", count: 10))
        // And not again soon.
        door.knock("asha")
        #expect(await door.outcomes(1) == ["asha"])
        #expect(door.checks == 1 && door.logins.failureCount == 0)
        door.now += 61_000_000_000
        door.knock("asha")
        #expect(await door.outcomes(1) == ["asha"])
        #expect(door.checks == 2)
    }

    @Test @LoopActor func `somebody unknown costs a check, too, and is answered like a wrong password`() async {
        let door = Door()
        door.change(Self.asha)
        door.knock("nobody")
        door.knock("asha", "wrong password")
        door.knock("not a name at all")
        #expect(await door.outcomes(3) == ["failed", "failed", "failed"])
        #expect(door.checks == 3 && door.logins.failureCount == 3)
    }

    @Test @LoopActor func `few checks run, few wait, and one address leaves room for others`() async {
        let door = Door()
        door.isHolding = true
        let busy = "too many logins are being checked; try again"
        for number in 0...Logins.maximumWaitingOfAddress { door.knock("user-\(number)", from: "10.0.0.1:\(number)") }
        #expect(await door.outcomes(1) == [busy])
        let room = Logins.maximumWaiting + Logins.maximumChecks - Logins.maximumWaitingOfAddress
        for number in 0..<room { door.knock("other-\(number)", from: "10.0.1.\(number):1") }
        door.knock("too-many", from: "10.0.2.1:1")
        #expect(await door.outcomes(1) == [busy])
        await turns { door.checks == Logins.maximumChecks }
        for _ in 0..<10 { await LoopTimer.pause(milliseconds: 0) }
        #expect(door.checks == Logins.maximumChecks)
        door.release()
        let count = room + Logins.maximumWaitingOfAddress
        #expect(await door.outcomes(count) == Array(repeating: "failed", count: count))
        #expect(door.checks == count)
    }

    @Test @LoopActor func `an address with too many failures is refused until some are forgiven, but for tokens`()
        async throws
    {
        let door = Door()
        let token = Token.random()
        door.change(Self.asha)
        door.change(User("kitchen", role: .merchant, tokens: [token.digest]))
        // What nobody's password can be is not checked, but counted.
        let long = String(repeating: "x", count: PasswordHash.passwordLength.upperBound + 1)
        for number in 0..<LoginLimits.maximumFailures { door.knock("asha", long, from: "10.0.0.1:\(number)") }
        _ = await door.outcomes(LoginLimits.maximumFailures)
        door.knock("asha")
        #expect(await door.outcomes(1) == ["too many failed logins from this address; try again in 10 seconds"])
        #expect(door.checks == 0)
        door.knock("kitchen", token.text)
        #expect(await door.outcomes(1) == ["kitchen"])
        door.knock("asha", from: "10.0.0.2:1")
        #expect(await door.outcomes(1) == ["asha"])
        door.now += 10_000_000_000
        door.knock("asha")
        #expect(await door.outcomes(1) == ["asha"])
    }

    @Test @LoopActor func `a wrong password that is repeated is neither checked nor counted again`() async {
        let door = Door()
        door.change(Self.asha)
        for _ in 0..<LoginLimits.maximumFailures + 5 {
            door.knock("asha", "wrong password")
            #expect(await door.outcomes(1) == ["failed"])
        }
        #expect(door.checks == 1)
        door.knock("asha")
        #expect(await door.outcomes(1) == ["asha"])
    }

    @Test @LoopActor func `who has changed during a check is not let in, and may try again`() async {
        let door = Door()
        door.change(Self.asha)
        door.isHolding = true
        door.knock("asha")
        await turns { door.checks == 1 }
        let other = PasswordHash(encoded: "$scrypt$ln=1,r=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
        door.change(User("asha", role: .customer, password: other))
        door.release()
        #expect(await door.outcomes(1) == ["failed"])
        // It was not the password that was wrong.
        door.knock("asha")
        #expect(await door.outcomes(1) == ["asha"])
        door.change(User("asha", role: .customer, password: .ofNobody, isEnabled: false))
        door.knock("asha")
        #expect(await door.outcomes(1) == ["failed"])
    }

    @Test(arguments: [
        ("127.0.0.1:5000", "127.0.0.1"), ("[::ffff:1.2.3.4]:80", "0.0.0.0.0.0.0.0.0.0.255.255.1.2.3.4"),
        ("[2001:db8::1]:80", "32.1.13.184.0.0.0.0"), ("[2001:db8::2:3]:9", "32.1.13.184.0.0.0.0"),
        ("[2001:db8:0:1::1]:80", "32.1.13.184.0.0.0.1"), ("[nonsense]:80", "[nonsense]"),
    ])
    @LoopActor func `an address is known by its host, and one of IPv6 by its network`(address: String, network: String)
    {
        #expect(Logins.network(of: address) == network)
    }
}
