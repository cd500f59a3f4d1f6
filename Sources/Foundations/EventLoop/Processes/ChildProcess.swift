internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A program running alongside this one. The object lives until the program has exited.
@LoopActor
public final class ChildProcess {
    /// How a program ended.
    public struct ExitStatus: Sendable, Equatable {
        /// What it exited with; 0 when a signal ended it.
        public let code: Int64
        /// The signal that ended it, or 0.
        public let signal: Int32

        /// It exited, with 0.
        public var isSuccess: Bool { code == 0 && signal == 0 }
    }

    /// The program's process id.
    public var pid: Int32 { pidWhenStarted }
    /// How it ended; nil while it runs.
    public private(set) var exitStatus: ExitStatus?

    private let handle = LoopHandle<uv_process_t>()
    private var pidWhenStarted: Int32 = 0
    private var input: LoopHandle<uv_pipe_t>?
    private var output: CapturedOutput?
    private var errors: CapturedOutput?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Starts a program.
    public init(_ launch: Launch) throws(LoopError) {
        if launch.input == .pipe { input = makePipe() }
        output = CapturedOutput(launch.output)
        errors = CapturedOutput(launch.errors)
        var standardIO = [
            standardInput(), standardOutput(launch.output, output, inherited: STDOUT_FILENO),
            standardOutput(launch.errors, errors, inherited: STDERR_FILENO),
        ]
        let code = launch.withOptions(&standardIO) { options in
            options.exit_cb = { raw, code, signal in
                let process = handleOwner(raw!.pointee.data, as: ChildProcess.self)
                LoopActor.assumeIsolated { process.didExit(ExitStatus(code: code, signal: signal)) }
            }
            return uv_spawn(LoopActor.loop, handle.raw, &options)
        }
        // Whatever the result, the handle is initialised now, and has to be closed rather than freed.
        handle.setOwner(self)
        if code < 0 {
            handle.close()
            closeInput()
            output?.close()
            errors?.close()
            throw LoopError(code, "start \(launch.executable)")
        }
        pidWhenStarted = handle.raw.pointee.pid
        output?.start { [unowned self] in resumeWaiters() }
        errors?.start { [unowned self] in resumeWaiters() }
    }

    /// How the program ended, once it has ended and its captured outputs are complete.
    public var exit: ExitStatus {
        get async {
            await LoopActor.wait(unless: { exitStatus != nil && areOutputsComplete }) { waiters.append($0) }
            guard let exitStatus else { preconditionFailure("a program that ended without a status") }
            return exitStatus
        }
    }

    /// What it has written to its captured standard output, up to the limit.
    public var outputBytes: [UInt8] { output?.bytes ?? [] }

    /// What it has written to its captured standard error, up to the limit.
    public var errorBytes: [UInt8] { errors?.bytes ?? [] }

    /// Sends a signal, unless the program has ended.
    public func kill(_ signal: Int32) {
        guard exitStatus == nil else { return }
        uv_process_kill(handle.raw, signal)
    }

    /// Closes the pipe that the program reads its standard input from.
    public func closeInput() {
        input?.close()
        input = nil
    }

    private var areOutputsComplete: Bool { output?.isComplete ?? true && errors?.isComplete ?? true }

    private func didExit(_ status: ExitStatus) {
        exitStatus = status
        handle.close()
        closeInput()
        resumeWaiters()
    }

    private func resumeWaiters() {
        guard exitStatus != nil, areOutputsComplete else { return }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func standardInput() -> uv_stdio_container_t {
        var container = uv_stdio_container_t()
        if let input {
            container.flags = uv_stdio_flags(UV_CREATE_PIPE.rawValue | UV_READABLE_PIPE.rawValue)
            container.data.stream = input.stream
        } else {
            container.flags = UV_IGNORE
        }
        return container
    }

    private func standardOutput(
        _ output: Launch.Output, _ capture: CapturedOutput?, inherited: Int32
    ) -> uv_stdio_container_t {
        var container = uv_stdio_container_t()
        switch output {
        case .none:
            container.flags = UV_IGNORE
        case .inherit:
            container.flags = UV_INHERIT_FD
            container.data.fd = inherited
        case .descriptor(let descriptor):
            container.flags = UV_INHERIT_FD
            container.data.fd = descriptor
        case .capture:
            container.flags = uv_stdio_flags(UV_CREATE_PIPE.rawValue | UV_WRITABLE_PIPE.rawValue)
            container.data.stream = capture?.stream
        }
        return container
    }
}

/// A pipe that is not connected yet.
@LoopActor
func makePipe() -> LoopHandle<uv_pipe_t> {
    let pipe = LoopHandle<uv_pipe_t>()
    let code = uv_pipe_init(LoopActor.loop, pipe.raw, 0)
    precondition(code == 0, "uv_pipe_init only fills in fields")
    return pipe
}
