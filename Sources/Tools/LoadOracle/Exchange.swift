package import LineProtocol

/// A call and its result. Times are nanoseconds of one clock.
package struct Exchange: Equatable, Sendable {
    /// Who sent it, by number.
    package var customer: Int
    package var call: Call
    /// The number in its `ID`, for a write: the customer's nth. 0 for a read.
    package var write: Int
    /// When it was to be sent, and when it was first sent.
    package var planned: UInt64
    package var sent: UInt64
    /// How often it has been sent.
    package var attempts: Int
    /// When the reply came.
    package var answered: UInt64
    package var reply: Reply
    /// The reply to the first copy of a call that was sent twice, if that was a refusal. Then the reply to the second
    /// copy decides.
    package var refusedBefore: Reply?
    /// The reply to the second copy of a call that was sent twice, if the first was not refused.
    package var repeated: Reply?

    package init(
        customer: Int, call: Call, write: Int, planned: UInt64, sent: UInt64, attempts: Int = 1, answered: UInt64,
        reply: Reply, refusedBefore: Reply? = nil, repeated: Reply? = nil
    ) {
        self.customer = customer
        self.call = call
        self.write = write
        self.planned = planned
        self.sent = sent
        self.attempts = attempts
        self.answered = answered
        self.reply = reply
        self.refusedBefore = refusedBefore
        self.repeated = repeated
    }
}
