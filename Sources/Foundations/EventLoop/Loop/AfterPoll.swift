internal import CLibUV

/// A registration made with `LoopActor.afterPoll`.
@LoopActor
public final class AfterPoll {
    private var handle: LoopHandle<uv_prepare_t>?
    private var body: (@LoopActor () -> Void)?

    fileprivate init(_ body: @escaping @LoopActor () -> Void) {
        let handle = LoopHandle<uv_prepare_t>()
        self.handle = handle
        self.body = body
        uv_prepare_init(LoopActor.loop, handle.raw)
        handle.setOwner(self)
        uv_prepare_start(handle.raw) { raw in
            let registration = handleOwner(raw!.pointee.data, as: AfterPoll.self)
            LoopActor.assumeIsolated { registration.body?() }
        }
    }

    /// Ends the registration; its body does not run again.
    public func cancel() {
        handle?.close()
        handle = nil
        body = nil
    }
}

extension LoopActor {
    /// Registers a body that runs once in every iteration of the loop: after everything that the poll, the timers and
    /// enqueued jobs brought has been handled, and before the loop sleeps again.
    ///
    /// Here an owner sends in one go what an iteration has gathered. (libuv's check phase would be too early: timers
    /// run after it, and what they gather would wait for the next event.)
    @LoopActor
    public static func afterPoll(_ body: @escaping @LoopActor () -> Void) -> AfterPoll {
        AfterPoll(body)
    }
}
