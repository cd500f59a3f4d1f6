/// How long to wait before something is tried again: twice as long after each failure, up to a limit, and less by a
/// part that is drawn, so that many who failed at once do not come back at once.
package struct BackOff: Sendable {
    /// The wait after the first failure, in milliseconds.
    package var first: UInt64
    /// The longest wait, in milliseconds.
    package var longest: UInt64

    /// - Precondition: `first` is not 0.
    package init(first: UInt64, longest: UInt64) {
        self.first = first
        self.longest = max(first, longest)
    }

    /// The wait after so many failures, from 1: between half of it and all of it, in milliseconds.
    ///
    /// - Parameter least: how long to wait at least, if that is no longer than the longest wait.
    func wait(after failures: Int, atLeast least: UInt64 = 0, _ random: inout some RandomNumberGenerator) -> UInt64 {
        var (wait, rest) = (first, failures - 1)
        while rest > 0, wait < longest {
            let (doubled, isTooLong) = wait.multipliedReportingOverflow(by: 2)
            wait = isTooLong ? longest : min(doubled, longest)
            rest -= 1
        }
        return max(wait - UInt64.random(in: 0...wait / 2, using: &random), min(least, longest))
    }
}
