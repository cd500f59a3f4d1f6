internal import CLibUV

/// Calls back once, in the next turn of the loop, which then does not wait for anything. In between, sockets and
/// enqueued jobs have their turn; a timer of no milliseconds could fire again and again without one.
@LoopActor
public final class NextTurn {
    private let handle = LoopHandle<uv_idle_t>()
    private let body: @LoopActor () -> Void

    /// Has the body called in the next turn.
    public init(_ body: @escaping @LoopActor () -> Void) {
        self.body = body
        uv_idle_init(LoopActor.loop, handle.raw)
        handle.setOwner(self)
        uv_idle_start(handle.raw) { raw in
            let turn = handleOwner(raw!.pointee.data, as: NextTurn.self)
            LoopActor.assumeIsolated { turn.begin() }
        }
    }

    private func begin() {
        handle.close()
        body()
    }
}
