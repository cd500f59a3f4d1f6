// Runs a script on the log in a real PostgreSQL, and prints what it was answered: `tiffin-log-script DATABASE SEED`.
// See Tests/Clients/test_simulation.py.

import EventLoop
import Glibc
import LogScript

LoopActor.task {
    guard CommandLine.arguments.count == 3, let seed = UInt64(CommandLine.arguments[2]) else { exit(2) }
    do {
        var script = try await LogScript(CommandLine.arguments[1], seed: seed)
        for line in await script.run() { print(line) }
        exit(0)
    } catch {
        print(error)
        exit(1)
    }
}
LoopActor.run()
