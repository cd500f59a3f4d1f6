/// When the read model of a partition is to be saved. Times are nanoseconds of the loop's clock.
///
/// It is saved once nothing has happened from one look to the next; otherwise after so many events or so long. Saving
/// takes a tenth of the time at most: hundreds of large menus that change all the time would else be written without
/// a pause. Only too many events do not wait for that, as a restart has to fold them.
struct CheckpointSchedule {
    /// How long nothing is saved after a checkpoint, as a multiple of the time that it took.
    private static let pause: UInt64 = 9
    /// The longest pause.
    private static let longestPause: UInt64 = 300_000_000_000
    /// How long to wait before saving is tried again after it failed.
    private static let retryInterval: UInt64 = 10_000_000_000

    /// The most events that are left unsaved.
    let maximumEvents: Int64
    /// How long events may be left unsaved while more keep coming.
    let maximumWait: UInt64

    private var positionAtLastLook: Int64
    private var savedAt: UInt64
    private var pauseEnds: UInt64 = 0
    private var retryAt: UInt64 = 0

    init(maximumEvents: Int64, maximumWait: UInt64, position: Int64, now: UInt64) {
        self.maximumEvents = maximumEvents
        self.maximumWait = maximumWait
        positionAtLastLook = position
        savedAt = now
    }

    /// Whether to save now. Ask at regular intervals.
    ///
    /// - Parameter position: how far the read model is, and how far it is saved.
    mutating func isDue(at position: Int64, saved: Int64, now: UInt64) -> Bool {
        let isQuiet = position == positionAtLastLook
        positionAtLastLook = position
        guard position > saved, now >= retryAt else { return false }
        if position - saved >= maximumEvents { return true }
        return now >= pauseEnds && (isQuiet || now - savedAt > maximumWait)
    }

    /// Saving ended, whether there was something to write or not.
    mutating func ended(_ now: UInt64, began: UInt64) {
        savedAt = now
        pauseEnds = now + min((now - began) * CheckpointSchedule.pause, CheckpointSchedule.longestPause)
    }

    /// Saving failed.
    mutating func failed(_ now: UInt64) { retryAt = now + CheckpointSchedule.retryInterval }
}
