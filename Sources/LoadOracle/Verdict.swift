/// What the oracle says of a reply.
package enum Verdict: Equatable, Sendable {
    /// It is done, as it had to be.
    case accepted
    /// It is done, and there was nothing to do.
    case unchanged
    /// It is refused, as it had to be.
    case refused(code: String)
    /// The server could not: nothing was accepted, and nothing is wrong with that.
    case failed(code: String)
    /// It is not known what became of it; it has to be sent again.
    case unsettled

    /// The verdict on an error that says something of the server and nothing of the call; nil for other errors.
    package init?(inability code: String) {
        switch code {
        case "BUSY", "UNAVAILABLE": self = .failed(code: code)
        case "UNKNOWN": self = .unsettled
        default: return nil
        }
    }
}

/// A violation with what led to it.
package struct Finding: Equatable, Sendable {
    package var check: Check
    package var message: String
    /// The shortest history that shows it, a line a step.
    package var history: [String]
    /// When it was found, in nanoseconds.
    package var time: UInt64
    /// The stream of the log that tells more.
    package var stream: String?
}
