internal import CLibUV

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Calls back at a moment that may be set again and again: within some 50 µs on Linux, elsewhere to the millisecond,
/// as with `LoopTimer`.
@LoopActor
public final class Alarm {
    private let onRing: @LoopActor () -> Void
    #if os(Linux)
        private let descriptor: Int32
        private let source: PollSource
    #else
        private var timer: LoopTimer?
    #endif

    /// An alarm that is not set.
    public init(onRing: @escaping @LoopActor () -> Void) throws(LoopError) {
        self.onRing = onRing
        #if os(Linux)
            let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
            if descriptor < 0 { throw LoopError(-errno, "create a timer") }
            do throws(LoopError) {
                let source = try PollSource(fileDescriptor: descriptor) { _ in
                    var rings: UInt64 = 0
                    // It was set again in the meantime: this expiry no longer counts.
                    if read(descriptor, &rings, MemoryLayout<UInt64>.size) > 0 { onRing() }
                }
                try source.wait(for: .read)
                self.source = source
            } catch {
                Glibc.close(descriptor)
                throw error
            }
            self.descriptor = descriptor
        #endif
    }

    /// Sets it to a time of the loop's clock, `LoopActor.now`, replacing any earlier setting. A time that has passed
    /// rings at once, but never inside this call.
    public func set(to time: UInt64) {
        #if os(Linux)
            // libuv's clock is this one. Zero would unset the timer.
            let time = max(time, 1)
            var setting = itimerspec()
            setting.it_value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
            timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        #else
            let now = LoopActor.now
            timer?.cancel()
            timer = LoopTimer(milliseconds: time > now ? (time - now) / 1_000_000 : 0) { [onRing] in onRing() }
        #endif
    }

    /// Ends it; it does not ring again.
    public func cancel() {
        #if os(Linux)
            source.close()
            Glibc.close(descriptor)
        #else
            timer?.cancel()
        #endif
    }
}
