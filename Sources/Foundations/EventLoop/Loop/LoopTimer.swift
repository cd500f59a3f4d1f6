internal import CLibUV

/// Calls back once after a time, or again and again. Lives until it has fired or is cancelled.
@LoopActor
public final class LoopTimer {
    private var handle: LoopHandle<uv_timer_t>?
    private var body: (@LoopActor () -> Void)?
    private let isRepeating: Bool

    /// Starts a timer of this many milliseconds.
    public init(milliseconds: UInt64, repeating: Bool = false, _ body: @escaping @LoopActor () -> Void) {
        let handle = LoopHandle<uv_timer_t>()
        self.handle = handle
        self.body = body
        isRepeating = repeating
        uv_timer_init(LoopActor.loop, handle.raw)
        handle.setOwner(self)
        // The loop's clock stops while callbacks run, but a timer counts from now.
        uv_update_time(LoopActor.loop)
        uv_timer_start(
            handle.raw,
            { raw in
                let timer = handleOwner(raw!.pointee.data, as: LoopTimer.self)
                LoopActor.assumeIsolated { timer.fire() }
            }, milliseconds, repeating ? max(milliseconds, 1) : 0)
    }

    /// Stops the timer; it does not fire again.
    public func cancel() {
        handle?.close()
        handle = nil
        body = nil
    }

    private func fire() {
        let body = body
        if !isRepeating { cancel() }
        body?()
    }
}

extension LoopTimer {
    /// Lets this many milliseconds pass.
    public static func pause(milliseconds: UInt64) async {
        await withCheckedContinuation { continuation in
            _ = LoopTimer(milliseconds: milliseconds) { continuation.resume() }
        }
    }
}
