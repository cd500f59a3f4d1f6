/// A run while it goes on: what `LiveView` shows of it.
package struct LiveSnapshot: Sendable, Equatable {
    /// Seconds since the load began.
    package var elapsed: Double
    /// How many seconds it is to last; nil if it goes on until it is stopped.
    package var planned: Double?
    /// What the monkey does besides the load, in a few words: `waiting for 12 answers`; nil while it sends.
    package var phase: String? = nil
    /// The seconds that are over, the latest last; the view needs no more than `LiveView.secondsShown` of them.
    package var windows: [RunReport.Window] = []
    /// Errors so far.
    package var errors: [RunReport.ErrorCount] = []
    /// Commands so far whose outcome is unknown.
    package var unknown = 0
    /// Checks made so far.
    package var checks = 0
    /// Checks that failed so far.
    package var violations = 0
    /// Commands in flight.
    package var inFlight = 0
    /// Sent later than planned, so far.
    package var late = 0
    /// Never sent, so far.
    package var dropped = 0
    /// Faults made so far.
    package var faults: [RunReport.Fault] = []

    package init(
        elapsed: Double, planned: Double? = nil, phase: String? = nil, windows: [RunReport.Window] = [],
        errors: [RunReport.ErrorCount] = [], unknown: Int = 0, checks: Int = 0, violations: Int = 0,
        inFlight: Int = 0, late: Int = 0, dropped: Int = 0, faults: [RunReport.Fault] = []
    ) {
        self.elapsed = elapsed
        self.planned = planned
        self.phase = phase
        self.windows = windows
        self.errors = errors
        self.unknown = unknown
        self.checks = checks
        self.violations = violations
        self.inFlight = inFlight
        self.late = late
        self.dropped = dropped
        self.faults = faults
    }
}
