/// What the oracle says about a reply.
package enum Verdict: Equatable, Sendable {
    /// It was done, as it had to be.
    case accepted
    /// It was done, and there was nothing to do.
    case unchanged
    /// It was refused, as it had to be.
    case refused(code: String)
    /// The server was unable to: nothing was accepted, and nothing is wrong with that.
    case failed(code: String)
    /// The outcome is unknown; it has to be sent again.
    case unsettled

    /// The verdict on an error that is about the server, not the call; nil for other errors.
    package init?(inability code: String) {
        switch code {
        case "BUSY", "LOADING", "UNAVAILABLE": self = .failed(code: code)
        case "UNKNOWN": self = .unsettled
        default: return nil
        }
    }
}

/// A violation with what led to it.
package struct Finding: Equatable, Sendable {
    package var check: Check
    package var message: String
    /// The shortest history that shows it, one line for each step.
    package var history: [String]
    /// When it was found, in nanoseconds.
    package var time: UInt64
    /// The stream of the log that explains more.
    package var stream: String?
}
