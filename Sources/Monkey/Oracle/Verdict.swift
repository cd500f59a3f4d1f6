/// What the oracle says of an answer.
enum Verdict: Equatable {
    /// It is done, as it had to be.
    case accepted
    /// It is done, and there was nothing to do.
    case unchanged
    /// It is refused, as it had to be.
    case refused(code: String)
    /// The server could not: nothing was accepted, and nothing is wrong with that.
    case failed(code: String)
    /// What became of it is not known; it has to be sent again.
    case unsettled
}
