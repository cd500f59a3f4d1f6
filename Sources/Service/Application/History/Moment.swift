package import Domain

/// Up to where a question looks at the past.
package enum Moment: Hashable, Sendable {
    /// A position in the partition of what the question is about.
    case position(Int64)
    /// A time: everything recorded then or before.
    case time(Timestamp)
}

extension Application {
    /// The moment that a question is about, which must not lie in the future; nil for now.
    func moment(_ moment: Moment?) throws(Failure) -> Moment? {
        if case .time(let time)? = moment, time > clock() {
            throw .invalid("AT", "must not lie in the future: it is \(clock().rfc3339)")
        }
        return moment
    }
}
