internal import EventLoop
internal import SeededRandom

/// Faults in a server that the monkey started, at times that follow from the seed.
@LoopActor
final class ServerFaults {
    enum Fault: String, CaseIterable {
        case killServer = "server killed"
        case pauseServer = "server paused"
        case killPostgres = "PostgreSQL killed"
        case pausePostgres = "PostgreSQL paused"
    }

    /// Seconds from one fault to the next.
    private static let pauses = 1.5...4.0
    private static let milliseconds = 100...1_500

    private let server: StartedServer
    private let recorder: Recorder
    private var chance: SeededGenerator
    private(set) var failure: (any Error)?
    private var isOver = false
    private var isBusy = false
    private var timer: LoopTimer?
    private var ended: CheckedContinuation<Void, Never>?

    init(_ server: StartedServer, recorder: Recorder, seed: UInt64) {
        self.server = server
        self.recorder = recorder
        chance = SeededGenerator(seed: ~seed &+ 1)
    }

    /// Makes faults until `stop()`. Each kind comes once before any comes again.
    func start() { planNext(of: []) }

    private func planNext(of kinds: [Fault]) {
        var kinds = kinds.isEmpty ? Fault.allCases.shuffled(using: &chance) : kinds
        let seconds = Double.random(in: ServerFaults.pauses, using: &chance)
        let milliseconds = UInt64(chance.number(ServerFaults.milliseconds))
        let kind = kinds.removeFirst()
        timer = LoopTimer(milliseconds: UInt64(seconds * 1_000)) { [self] in
            isBusy = true
            LoopActor.task { [self] in
                await make(kind, milliseconds)
                isBusy = false
                if isOver { ended?.resume() } else { planNext(of: kinds) }
            }
        }
    }

    private func make(_ fault: Fault, _ milliseconds: UInt64) async {
        recorder.made(fault.rawValue)
        switch fault {
        case .killServer:
            do { try await server.killAndRestart() } catch { failure = error }
        case .pauseServer: await server.pause(milliseconds: milliseconds)
        case .killPostgres: server.killPostgres()
        case .pausePostgres: await server.pausePostgres(milliseconds: milliseconds)
        }
    }

    /// Makes no more faults, and waits until the last one is over.
    func stop() async {
        isOver = true
        timer?.cancel()
        await LoopActor.wait(unless: { !isBusy }) { ended = $0 }
    }
}
