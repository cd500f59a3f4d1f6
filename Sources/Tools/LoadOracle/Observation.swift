/// One thing that the oracle learns. A run is a sequence of observations; the same sequence leads to the same verdicts.
package enum Observation: Equatable, Sendable {
    /// The load began.
    case loadBegan(at: UInt64)
    /// The owner of an outlet is about to send a change: from now on others may see it.
    case changeSent(Call)
    /// A customer or a kitchen is about to send a step of an order: from now on the server may have taken it.
    case stepSent(customer: Int, call: Call, at: UInt64)
    /// A call was answered.
    case exchange(Exchange)
    /// A customer leaves its cart for a new one.
    case newCart(customer: Int)
    /// A connection's subscription to a channel was confirmed, or ended.
    case subscription(connection: Int, channel: String, isOn: Bool)
    /// A message came.
    case message(connection: Int, channel: String, at: UInt64, payload: [UInt8])
    /// A connection ended. If its client had ended its side before, it was owed every reply.
    case connectionEnded(connection: Int, wasHalfClosed: Bool)
    /// The connection itself was at fault: replies were missing, or not asked for.
    case connectionFault(Violation, at: UInt64)
    /// A call will not be answered any more.
    case unanswered(customer: Int, call: Call, write: Int)
    /// Messages had enough time to come.
    case messagesAwaited(at: UInt64)
    /// The log will be read after these positions, one for each partition.
    case logBegins(heads: [Int64], at: UInt64)
    /// What `TAKINGS` of an outlet answered for all days of the run, when the log had its end.
    case takings(outlet: Int, document: [UInt8])
    /// The next event of a partition, as `LOG.READ` shows it.
    case logEvent(partition: Int, event: [UInt8])
    /// The log was read to these positions.
    case logEnds(heads: [Int64], at: UInt64)
    /// The log could not be read.
    case logUnread(reason: String)
}
