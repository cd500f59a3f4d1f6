internal import CommandLineOptions
internal import EventLoop
internal import Foundation
internal import LineServer
internal import Serving
internal import WebServer

/// The number of a server process among those that `serve --processes` runs, from 1.
struct ProcessNumber {
    /// In the environment of a process, it says that it is one of several. It is no option: who starts a server has no
    /// use for it.
    private static let variable = "TIFFIN_PROCESS"
    /// The ports of one process are so far from those of the next.
    private static let portStep = 10

    let value: Int

    init(_ value: Int) { self.value = value }

    /// This process's own; nil where it is not one of several.
    static var own: ProcessNumber? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }.map(ProcessNumber.init)
    }

    /// The environment of the process with that number.
    var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment[ProcessNumber.variable] = "\(value)"
        // What starts the processes says itself that they are ready.
        environment["NOTIFY_SOCKET"] = nil
        return environment
    }

    /// The port of a process of its own, beside one that all share; nil where there is none.
    func port(beside shared: UInt16) -> UInt16? { UInt16(exactly: Int(shared) + ProcessNumber.portStep * value) }

    /// Watches for the end of what started this process; nil where nobody did.
    @LoopActor
    static func watchStarter(_ onEnd: @escaping @LoopActor () -> Void) throws(LoopError) -> PollSource? {
        guard own != nil else { return nil }
        let source = try PollSource(fileDescriptor: STDIN_FILENO) { _ in
            var byte: UInt8 = 0
            if read(STDIN_FILENO, &byte, 1) <= 0 { onEnd() }
        }
        try source.wait(for: .read)
        return source
    }

    /// Changes where a server listens to what this process is to listen on: its own port beside the common one, the
    /// store together with the others, and a console of its own.
    func apply(to line: inout LineConfiguration, _ web: inout WebConfiguration) throws(UsageError) {
        guard line.port > 0, let own = port(beside: line.port) else {
            throw UsageError("--processes: --listen needs a port, and one of its own for each process behind it")
        }
        (line.sharedPort, line.port) = (line.port, own)
        web.addresses[.store]?.isShared = true
        guard let console = web.addresses[.console], value > 1 else { return }
        guard console.port > 0, let own = ProcessNumber(value - 1).port(beside: console.port) else {
            throw UsageError("--processes: --console needs a port, and one for each process behind it")
        }
        web.addresses[.console]?.port = own
    }
}

/// Runs several server processes on this machine, each with one thread for its state: starts another where one ends.
@LoopActor
final class ServerProcesses {
    /// How long to wait before another is started, in milliseconds.
    private static let pauseMilliseconds: UInt64 = 1_000
    /// How often it is looked whether a process listens, in milliseconds.
    private static let lookMilliseconds: UInt64 = 20

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let addresses: [(host: String, port: UInt16)]
    private let logger: Logger
    private let stopping: StopSignal
    private var children: [Int: ChildProcess] = [:]
    private var ready: Set<Int> = []
    private var failure: Failure?
    private var isStopping = false

    /// - Parameters:
    ///   - addresses: where each process listens by itself.
    ///   - stopping: fires when they are to end.
    init(at addresses: [(host: String, port: UInt16)], _ stopping: StopSignal, _ logger: Logger) {
        self.addresses = addresses
        self.stopping = stopping
        self.logger = logger
    }

    /// Runs the processes, which have the options of this one, until they are to end.
    ///
    /// - Parameter onReady: called when all of them listen.
    func run(onReady: @LoopActor () -> Void) async throws {
        let keepers = addresses.indices.map { index in Task { @LoopActor in await keep(index + 1) } }
        while ready.count < addresses.count, await !stopping.wait(milliseconds: Self.lookMilliseconds) {}
        if ready.count == addresses.count { onReady() }
        await stopping.wait()
        isStopping = true
        // Not by a signal: a service manager may have sent them one, and would it be the second, they ended at once.
        for child in children.values { child.closeInput() }
        for keeper in keepers { await keeper.value }
        if let failure { throw failure }
    }

    /// Has all processes reload their certificates.
    func reload() {
        for child in children.values { child.kill(SIGHUP) }
    }

    /// Starts a process, and another one whenever it ends.
    private func keep(_ number: Int) async {
        while !isStopping {
            var launch = ChildProcess.Launch(
                Bundle.main.executablePath ?? CommandLine.arguments[0], Array(CommandLine.arguments.dropFirst()))
            launch.environment = ProcessNumber(number).environment
            // It stops when this process is gone, whatever the reason; and not at Ctrl-C, which is for this one.
            launch.input = .pipe
            launch.newSession = true
            do {
                let child = try ChildProcess(launch)
                children[number] = child
                let look = Task { @LoopActor in await awaitListening(number, child) }
                let status = await child.exit
                children[number] = nil
                await look.value
                guard !isStopping else { return }
                let end = status.signal > 0 ? "signal \(status.signal)" : "code \(status.code)"
                guard ready.contains(number) else { return fail("process \(number) ended before it served: \(end)") }
                logger.error("process \(number) ended: \(end); starting another")
            } catch {
                guard ready.contains(number) else { return fail("\(error)") }
                logger.error("process \(number): \(error)")
            }
            await LoopTimer.pause(milliseconds: Self.pauseMilliseconds)
        }
    }

    private func fail(_ reason: String) {
        failure = failure ?? Failure(description: reason)
        stopping.fire()
    }

    private func awaitListening(_ number: Int, _ child: ChildProcess) async {
        let (host, port) = addresses[number - 1]
        while child.exitStatus == nil, !isStopping, !ready.contains(number) {
            if let connection = try? await TCPConnection.connect(host: host, port: port, timeoutMilliseconds: 1_000) {
                connection.close()
                ready.insert(number)
            } else {
                await LoopTimer.pause(milliseconds: Self.lookMilliseconds)
            }
        }
    }
}
