internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Calls back whenever the process receives a signal, in place of the signal's usual effect.
@LoopActor
public final class SignalSource {
    /// The signals a server answers to.
    public enum Signal: Sendable, CaseIterable {
        /// Ctrl-C in a terminal.
        case interrupt
        /// A polite request to end.
        case terminate
        /// The terminal went away, or a request to reload.
        case hangup

        var number: Int32 {
            switch self {
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            case .hangup: SIGHUP
            }
        }
    }

    private var handle: LoopHandle<uv_signal_t>?
    private var body: (@LoopActor () -> Void)?

    /// Watches for a signal until cancelled.
    public init(_ signal: Signal, _ body: @escaping @LoopActor () -> Void) throws(LoopError) {
        let handle = LoopHandle<uv_signal_t>()
        self.body = body
        let action = "watch for signal \(signal)"
        do throws(LoopError) {
            try LoopError.check(uv_signal_init(LoopActor.loop, handle.raw), action)
        } catch {
            handle.discard()
            throw error
        }
        handle.setOwner(self)
        self.handle = handle
        let code = uv_signal_start(
            handle.raw,
            { raw, _ in
                let source = handleOwner(raw!.pointee.data, as: SignalSource.self)
                LoopActor.assumeIsolated { source.body?() }
            }, signal.number)
        if code < 0 {
            cancel()
            throw LoopError(code, action)
        }
    }

    /// Stops watching; the signal has its usual effect again.
    public func cancel() {
        handle?.close()
        handle = nil
        body = nil
    }
}
