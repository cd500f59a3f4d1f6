internal import CLibUV
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Runs Swift's jobs on the thread that runs the loop.
///
/// What another thread enqueues wakes the loop. What the loop's own thread enqueues needs no system call: it runs
/// after the callbacks of this turn's sockets, or before the next turn waits.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// How many times in a row jobs enqueued by jobs are run, before sockets and timers have their turn.
    private static let roundLimit = 16

    /// Two arrays that take turns, so that a steady flow of jobs allocates nothing.
    private struct Jobs {
        var waiting: [UnownedJob] = []
        var spare: [UnownedJob] = []
    }

    // Both pointers are written once, in `init`. libuv lets any thread call `uv_async_send`; every other use
    // of them is on the loop's thread.
    nonisolated(unsafe) let loop: UnsafeMutablePointer<uv_loop_t>
    nonisolated(unsafe) private let wake: UnsafeMutablePointer<uv_async_t>
    private let jobs = Mutex(Jobs())
    private let loopThread = Atomic<UInt>(0)
    /// When the loop had last waited, in milliseconds of its own clock. As the closure, it is the loop's thread's.
    nonisolated(unsafe) private var waitedAt: UInt64
    nonisolated(unsafe) var onTurn: ((_ milliseconds: UInt64) -> Void)?
    /// What is to be done once the present round of jobs has run, or the next one. It is the loop's thread's, too.
    nonisolated(unsafe) var afterRound: [() -> Void] = []

    init() {
        // A peer that goes away is an error of its connection, and must not end the process.
        signal(SIGPIPE, SIG_IGN)
        loop = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        var code = uv_loop_init(loop)
        precondition(code == 0, "no event loop: \(LoopError(code, "create the event loop"))")
        waitedAt = uv_now(loop)
        code = uv_async_init(loop, wake) { _ in LoopActor.shared.executor.runWaitingJobs() }
        precondition(code == 0, "no event loop: \(LoopError(code, "create the event loop's wake-up"))")
        // Neither can fail, according to libuv. Both live as long as the process.
        let afterSockets = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
        uv_check_init(loop, afterSockets)
        uv_check_start(afterSockets) { handle in
            let executor = LoopActor.shared.executor
            // The loop has read the clock when it stopped waiting.
            executor.waitedAt = uv_now(executor.loop)
            executor.runWaitingJobs()
        }
        let beforeWaiting = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        uv_prepare_init(loop, beforeWaiting)
        uv_prepare_start(beforeWaiting) { _ in LoopActor.shared.executor.runJobsBeforeWaiting() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.waiting.append(job) }
        if !isOnLoopThread { uv_async_send(wake) }
    }

    func checkIsolated() {
        precondition(isOnLoopThread, "not on the event loop's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

    /// Relaxed is enough: a thread can find its own identity here only if it wrote it itself.
    var isOnLoopThread: Bool { loopThread.load(ordering: .relaxed) == Self.currentThread }

    func run() {
        let (isFree, _) = loopThread.compareExchange(
            expected: 0, desired: Self.currentThread, ordering: .acquiringAndReleasing)
        precondition(isFree, "the event loop is already running")
        uv_run(loop, UV_RUN_DEFAULT)
        loopThread.store(0, ordering: .releasing)
    }

    /// Runs what is enqueued, and what that enqueues, up to a bound.
    private func runWaitingJobs() {
        for _ in 0..<Self.roundLimit where !runRound() { return }
        uv_async_send(wake)
    }

    /// The last thing before the loop waits. The jobs may have left work for those who prepare for waiting; then
    /// there is one more turn first.
    private func runJobsBeforeWaiting() {
        if runRound() { uv_async_send(wake) }
        guard let onTurn else { return }
        // One reading of the clock a turn, which else the loop would do when it begins to wait.
        uv_update_time(loop)
        onTurn(uv_now(loop) - waitedAt)
    }

    /// Runs what was enqueued before the call, and what waited for that. Returns whether there was anything.
    private func runRound() -> Bool {
        var batch = jobs.withLock { jobs in
            let batch = jobs.waiting
            jobs.waiting = jobs.spare
            jobs.spare = []
            return batch
        }
        let isEmpty = batch.isEmpty
        for job in batch {
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        batch.removeAll(keepingCapacity: true)
        jobs.withLock { [batch] in $0.spare = batch }
        guard !afterRound.isEmpty else { return !isEmpty }
        let bodies = afterRound
        afterRound = []
        for body in bodies { body() }
        return true
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            pthread_self()
        #endif
    }
}
