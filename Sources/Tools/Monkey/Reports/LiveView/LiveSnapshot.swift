/// A run while it goes on: what `LiveView` shows of it.
struct LiveSnapshot: Sendable, Equatable {
    /// Seconds since the load began.
    var elapsed: Double
    /// How many seconds it is to last; nil if it goes on until it is stopped.
    var planned: Double?
    /// What the monkey does besides the load, in a few words: `waiting for 12 answers`; nil while it sends.
    var phase: String? = nil
    /// The seconds that are over, the latest last; the view needs no more than `LiveView.secondsShown` of them.
    var windows: [RunReport.Window] = []
    /// Errors so far.
    var errors: [RunReport.ErrorCount] = []
    /// Commands so far whose outcome is unknown.
    var unknown = 0
    /// Checks made so far.
    var checks = 0
    /// Checks that failed so far.
    var violations = 0
    /// Commands in flight.
    var inFlight = 0
    /// Sent later than planned, so far.
    var late = 0
    /// Never sent, so far.
    var dropped = 0
    /// Faults made so far.
    var faults: [RunReport.Fault] = []
}
