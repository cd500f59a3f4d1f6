/// A call on its way.
struct Flight {
    let call: Call
    /// What its `ID` is made of, for a write: the shopper's nth.
    let write: Int
    /// When it was to be sent, and when it was, in nanoseconds of the loop's clock.
    let planned: UInt64
    let sent: UInt64
    /// How many changes of its outlet were settled when it was sent first.
    let floor: Int
    /// How often it has been sent.
    var attempts = 1
}
