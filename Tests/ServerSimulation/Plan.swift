/// What a run is made of. One plan is one run.
struct Plan {
    var seed: UInt64
    /// How many things clients do before everything calms down.
    var actions = 120
    /// Faults that do not happen.
    var without: Set<Fault> = []
    /// Whether it is told what happens.
    var isTold = false

    init(seed: UInt64) { self.seed = seed }

    /// A plan as it is handed to the process that runs it.
    init(_ words: [UInt64]) {
        seed = words[0]
        actions = Int(words[1])
        without = Set(Fault.allCases.enumerated().filter { words[2] & 1 << UInt64($0.offset) != 0 }.map(\.element))
        isTold = words[3] != 0
    }

    var words: [UInt64] {
        let mask = Fault.allCases.enumerated().reduce(UInt64(0)) { mask, fault in
            without.contains(fault.element) ? mask | 1 << UInt64(fault.offset) : mask
        }
        return [seed, UInt64(actions), mask, isTold ? 1 : 0]
    }
}

/// What goes wrong.
enum Fault: String, CaseIterable {
    /// An append that is refused, whose request or reply is lost, or that arrives long after the server has given up.
    case refused, lostRequest, lateRequest, lostReply
    /// A read of the log that fails, and a look for an outcome that does.
    case unread, dark
    /// A connection to PostgreSQL that cannot be made; a time in which it is away, and one in which nothing can be
    /// appended, because somebody else has locked the head.
    case unconnected, down, locked
    /// An older copy takes the place of the database.
    case fork
    /// A server ends.
    case crash
    /// A server stops as it is told to.
    case stop
    /// A time in which a server cannot renew its lease, nor change others: what it says is lost, or the reply.
    case unrenewed
    /// Servers lose their connections to each other, and perhaps cannot connect again for a while.
    case unlinked
    /// A connection is lost, in the middle of a request or of a reply.
    case cut
    /// A client that ends its side and waits for what is due.
    case end
    /// A client that takes little at once.
    case slow
    /// A user who is changed, disabled or enabled again.
    case userChange
    /// A login with a wrong token, and a client that does not log in.
    case wrongToken, stranger
    /// A command that is sent again with its ID.
    case again
}
