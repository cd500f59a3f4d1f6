internal import Application
internal import EventLoop

/// Reads of the log that wait for an event that is not there yet. While they wait they cost nothing but their memory.
@LoopActor
final class LogWaits {
    /// The most reads that wait, of all callers and of one.
    static let maximum = 1_000
    static let maximumOfCaller = 100

    private struct Wait {
        var event: AwaitedEvent
        var caller: Caller
        var timer: LoopTimer
        var body: @LoopActor (_ isStopping: Bool) -> Void
    }
    private var waits: [Int: Wait] = [:]
    private var lastNumber = 0

    /// Calls a body once, as soon as the event is there, the time is over, or the server stops.
    ///
    /// - Throws: `BUSY` if too many wait.
    func add(
        _ event: AwaitedEvent, for caller: Caller, _ body: @escaping @LoopActor (_ isStopping: Bool) -> Void
    ) throws(Failure) {
        guard waits.count < LogWaits.maximum,
            waits.values.count(where: { $0.caller == caller }) < LogWaits.maximumOfCaller
        else { throw .busy }
        lastNumber += 1
        let number = lastNumber
        let timer = LoopTimer(milliseconds: UInt64(event.milliseconds)) { [unowned self] in end(number) }
        waits[number] = Wait(event: event, caller: caller, timer: timer, body: body)
    }

    /// Ends the waits whose events are there.
    ///
    /// - Parameter position: up to where a partition is known.
    func wake(_ position: (_ partition: Int) -> Int64) {
        guard !waits.isEmpty else { return }
        for (number, wait) in waits where position(wait.event.partition) >= wait.event.position { end(number) }
    }

    /// Ends all waits, as the server stops.
    func stop() {
        for number in waits.keys { end(number, isStopping: true) }
    }

    private func end(_ number: Int, isStopping: Bool = false) {
        guard let wait = waits.removeValue(forKey: number) else { return }
        wait.timer.cancel()
        wait.body(isStopping)
    }
}
