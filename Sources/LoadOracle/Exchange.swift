package import LineProtocol

/// A call and what came of it. Times are nanoseconds of one clock.
package struct Exchange: Equatable, Sendable {
    /// Who sent it, by number.
    package var customer: Int
    package var call: Call
    /// What its `ID` is made of, for a write: the customer's nth. 0 for a read.
    package var write: Int
    /// When it was to be sent, and when it was sent first.
    package var planned: UInt64
    package var sent: UInt64
    /// How often it has been sent.
    package var attempts: Int
    /// When the reply came.
    package var answered: UInt64
    package var reply: Reply
    /// What the first copy of a call that was sent twice was answered, where that was a refusal: the reply is the
    /// second one, which decides.
    package var refusedBefore: Reply?
    /// What the second copy of a call that was sent twice was answered, where the first was not refused.
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
