internal import LineProtocol

/// What has happened to a cart since it was last confirmed: the shortest history that shows what is wrong now.
struct History {
    /// The longest history of a cart that is never read.
    private static let limit = 200

    private var steps: [(call: Call, reply: Reply)] = []
    private var isCut = false

    mutating func append(_ call: Call, _ reply: Reply) {
        if steps.count == History.limit {
            steps.removeFirst()
            isCut = true
        }
        steps.append((call, reply))
    }

    /// The cart was read and is right.
    mutating func confirm(_ call: Call, _ reply: Reply) {
        steps = [(call, reply)]
        isCut = false
    }

    mutating func removeAll() {
        steps = []
        isCut = false
    }

    /// Each step as it was sent, and its reply. Refused steps changed nothing and are left out, except for the last.
    func lines(_ world: World) -> [String] {
        let shown = steps.enumerated().filter { index, step in
            if case .error = step.reply, index < steps.count - 1 { false } else { true }
        }
        return (isCut ? ["…"] : [])
            + shown.map { "\($0.element.call.summary(world)) → \($0.element.reply.summary)" }
    }
}
