// The process's one event loop: libuv's sockets, timers, signals, descriptors and child processes.
//
// It promises:
// - everything it owns is isolated to `LoopActor`, so the compiler proves that only the loop's thread touches it;
//   libuv's callbacks enter that isolation at one checked place, `assumeIsolated`;
// - a callback that says an object has ended runs once, and never inside the call that ended it;
// - libuv's handles never leave this target, and live exactly as long as libuv may still use them.

internal import CLibUV

/// Isolation to the event loop's thread.
///
/// Work may be enqueued at any time; it runs once the loop does.
@globalActor
public actor LoopActor {
    /// The actor whose executor is the loop.
    public static let shared = LoopActor()

    nonisolated let executor = LoopExecutor()

    /// The loop itself, as an executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    static var loop: UnsafeMutablePointer<uv_loop_t> { shared.executor.loop }

    /// Runs the loop on the calling thread until `stop()`. At most one thread runs it at a time.
    public static nonisolated func run() {
        shared.executor.run()
    }

    /// Runs the loop on a thread of its own for as long as the process lives; later calls do nothing.
    ///
    /// For programs, such as tests, whose main thread belongs to someone else.
    public static nonisolated func startInBackground() {
        _ = backgroundThread
    }

    /// Makes `run()` return after the current iteration.
    @LoopActor
    public static func stop() {
        uv_stop(loop)
    }

    /// Has a body called at the end of each turn of the loop, with the whole milliseconds since the loop had last waited.
    @LoopActor
    public static func timeTurns(_ body: @escaping @LoopActor (_ milliseconds: UInt64) -> Void) {
        shared.executor.onTurn = { milliseconds in assumeIsolated { body(milliseconds) } }
    }

    /// Has a body called once, when the jobs have run that are enqueued by now: in this turn of the loop, and before it
    /// waits. So an owner sends in one go what several jobs have gathered.
    @LoopActor
    public static func afterJobs(_ body: @escaping @LoopActor () -> Void) {
        shared.executor.afterRound.append { assumeIsolated { body() } }
    }

    /// A monotonic clock in nanoseconds, with an arbitrary origin.
    public static nonisolated var now: UInt64 { uv_hrtime() }

    /// Runs `operation` at once; traps unless called on the loop's thread.
    public static nonisolated func assumeIsolated<Result, Failure: Error>(
        _ operation: @LoopActor () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(shared.executor.isOnLoopThread, "not on the event loop's thread")
        typealias Isolated = @LoopActor (@LoopActor () throws(Failure) -> Result) throws(Failure) -> Result
        typealias Unisolated = (@LoopActor () throws(Failure) -> Result) throws(Failure) -> Result
        // Isolation is part of a function's type and not of its representation; the line above is the proof that the
        // compiler asks for. What is cast calls the operation: to cast the operation itself, memory would be
        // allocated.
        let run: Isolated = run
        return try unsafeBitCast(run, to: Unisolated.self)(operation)
    }

    @LoopActor
    private static func run<Result, Failure: Error>(
        _ operation: @LoopActor () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try operation()
    }

    /// Starts a task that never leaves the loop's thread.
    ///
    /// An ordinary task of this actor goes through another thread whenever it resumes, only to be sent back here.
    @discardableResult
    public static nonisolated func task(_ operation: sending @escaping @LoopActor () async -> Void) -> Task<
        Void, Never
    > {
        Task(executorPreference: shared.executor) { await operation() }
    }

    /// Waits until the continuation is resumed that `keep` is given, unless what it waits for is over.
    ///
    /// To look first and then to wait is not enough: an ordinary task may leave the loop in between, and then waits for
    /// what has happened meanwhile.
    @LoopActor
    public static func wait(
        unless isOver: () -> Bool, _ keep: (CheckedContinuation<Void, Never>) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            if isOver() { continuation.resume() } else { keep(continuation) }
        }
    }

    private static let backgroundThread: Void = {
        var thread = uv_thread_self()
        let code = uv_thread_create(&thread, { _ in LoopActor.run() }, nil)
        precondition(code == 0, "no thread for the event loop: \(LoopError(code, "start a thread"))")
    }()
}
