internal import EventLoop
internal import Foundation

/// Waits for somebody, such as the operator, to say that it is enough.
@LoopActor
final class StopSignal {
    private var sources: [SignalSource] = []
    private var waiter: CheckedContinuation<Void, Never>?
    private var hasFired = false
    /// Called once, when it is enough.
    var onFire: (@LoopActor () -> Void)?

    /// - Parameter signals: those of the operator.
    init(by signals: [SignalSource.Signal] = [.interrupt, .terminate]) {
        // Where a signal cannot be watched, it ends the process as it always did.
        sources = signals.compactMap { signal in
            try? SignalSource(signal) { [unowned self] in
                // A user who presses Ctrl-C again does not want to wait.
                if hasFired { exit(130) }
                fire()
            }
        }
    }

    /// It is enough.
    func fire() {
        hasFired = true
        onFire?()
        onFire = nil
        waiter?.resume()
        waiter = nil
    }

    func wait() async {
        await LoopActor.wait(unless: { hasFired }) { waiter = $0 }
    }

    /// Waits for so long at most, and returns whether it is enough.
    func wait(milliseconds: UInt64) async -> Bool {
        var isLate = false
        let timer = LoopTimer(milliseconds: milliseconds) { [unowned self] in
            isLate = true
            waiter?.resume()
            waiter = nil
        }
        await LoopActor.wait(unless: { hasFired || isLate }) { waiter = $0 }
        timer.cancel()
        return hasFired
    }
}
