import EventLoop
import Glibc
import LogScript
import SimulatedLoop
import SimulatedPostgres

/// Runs a script on the log in the simulated PostgreSQL, where everything arrives at once, and prints what it was
/// answered.
enum Script {
    static func run(seed: UInt64) -> Never {
        simulated_set_poll { mayWait in Script.poll(mayWait: mayWait != 0) }
        let network = QuietNetwork()
        Session.network = network
        LoopActor.task {
            do {
                var script = try await LogScript("dbname=simulated", seed: seed)
                for line in await script.run() { print(line) }
                exit(0)
            } catch {
                print(error)
                exit(1)
            }
        }
        LoopActor.run()
        fatalError("the loop has ended")
    }

    private static func poll(mayWait: Bool) {
        while let job = simulated_next_job() {
            unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: LoopActor.sharedUnownedExecutor)
        }
        guard mayWait, simulated_next_timer() < .max else { return }
        simulated_set_time(max(simulated_time(), simulated_next_timer()))
        simulated_fire_timers()
    }
}

/// Nothing takes time, and nothing fails.
private final class QuietNetwork: DatabaseNetwork {
    private var database = Database(partitions: LogScript.partitions)

    func connect(_ session: Session) { session.accept() }

    func send(_ messages: Messages, on session: Session) {
        session.deliver(database.answer(messages, on: session, at: simulated_time()))
    }

    func closed(_ session: Session) {}
}
