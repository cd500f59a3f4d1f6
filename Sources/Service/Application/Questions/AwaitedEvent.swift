/// What a read of the log waits for, and for how long.
package struct AwaitedEvent {
    /// The longest wait, in milliseconds.
    package static let longest: Int64 = 20_000

    /// The partition.
    package var partition: Int
    /// The event's position; any behind it will do.
    package var position: Int64
    /// How long, in milliseconds.
    package var milliseconds: Int64

    package init(partition: Int, position: Int64, milliseconds: Int64) {
        self.partition = partition
        self.position = position
        self.milliseconds = milliseconds
    }
}
