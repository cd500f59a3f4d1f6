import EventLoop
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct ChildProcessTests {
    init() { LoopActor.startInBackground() }

    @LoopActor private func run(_ script: String, _ change: (inout ChildProcess.Launch) -> Void = { _ in })
        async throws
        -> (status: ChildProcess.ExitStatus, output: String, errors: String)
    {
        var launch = ChildProcess.Launch("/bin/sh", ["-c", script])
        launch.output = .capture(limit: 1_000)
        launch.errors = .capture(limit: 1_000)
        change(&launch)
        let process = try ChildProcess(launch)
        let status = await process.exit
        return (
            status, String(decoding: process.outputBytes, as: UTF8.self),
            String(decoding: process.errorBytes, as: UTF8.self)
        )
    }

    @Test @LoopActor func `Both outputs and the exit code arrive`() async throws {
        let result = try await run("echo out; echo err >&2; exit 3")
        #expect(result.output == "out\n")
        #expect(result.errors == "err\n")
        #expect(result.status.code == 3)
    }

    @Test @LoopActor func `Captured output stops at its limit, the program does not`() async throws {
        let result = try await run("head -c 1000000 /dev/zero; echo done >&2")
        #expect(result.output.utf8.count == 1_000)
        #expect(result.errors == "done\n")
        #expect(result.status.isSuccess)
    }

    @Test @LoopActor func `Environment and working directory are as given`() async throws {
        let result = try await run("echo $DISH; pwd") {
            $0.environment = ["DISH": "dosa"]
            $0.workingDirectory = "/"
        }
        #expect(result.output == "dosa\n/\n")
    }

    @Test @LoopActor func `A program waits on its pipe until we close it`() async throws {
        var launch = ChildProcess.Launch("/bin/sh", ["-c", "read -r line; echo gone"])
        launch.input = .pipe
        launch.output = .capture(limit: 1_000)
        let process = try ChildProcess(launch)
        #expect(process.exitStatus == nil)
        process.closeInput()
        #expect(await process.exit.isSuccess)
        #expect(process.outputBytes == Array("gone\n".utf8))
    }

    @Test @LoopActor func `A signal ends a program, and a new session leads itself`() async throws {
        var launch = ChildProcess.Launch("/bin/sh", ["-c", "read -r line"])
        launch.newSession = true
        launch.input = .pipe
        let process = try ChildProcess(launch)
        #expect(getsid(process.pid) == process.pid)
        process.kill(SIGTERM)
        #expect(await process.exit.signal == SIGTERM)
        process.kill(SIGTERM)
    }

    @Test @LoopActor func `A program that is not there is an error that says so`() {
        let error = #expect(throws: LoopError.self) { try ChildProcess(.init("/no/such/program")) }
        #expect(error?.name == "ENOENT")
        #expect(error?.action == "start /no/such/program")
    }
}
