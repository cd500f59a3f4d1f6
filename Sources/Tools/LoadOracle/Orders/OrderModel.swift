/// An order as it must be, from the steps that were sent and their answers.
///
/// Kitchens, customers and time act on an order at once, so it is unknown what the server has decided while an answer
/// is on its way. The model keeps every possible course of events. Each answer, and each document that shows the order,
/// rules out the courses that disagree with it. If none is left, the server has made a mistake.
package final class OrderModel {
    /// How long an order may wait after its time has passed and a server is there, in nanoseconds.
    package static let patience: UInt64 = 15_000_000_000
    /// The most orders that `KITCHEN` shows.
    static let kitchenLimit = 500
    /// The most courses. Where more are possible, too much is going on at once, and the order is judged no further.
    private static let limit = 256
    private static let keptSteps = 30

    /// A course that things may have taken.
    private struct Course: Hashable {
        /// The states of the order, from the first on.
        var states: [OrderState]
        /// What steps on their way have already led to, by their customers.
        var done: [Int: Int64] = [:]

        var now: OrderState { states[states.count - 1] }
    }

    private struct Pending {
        var step: OrderStep
        var sent: UInt64
        /// The version that was known when it was sent.
        var floor: Int64
    }

    let facts: OrderFacts
    package let outlet: Int
    /// Between which moments it was placed.
    let placedSince, placedUntil: UInt64
    private var courses: [Course]
    private var pending: [Int: Pending] = [:]
    /// The versions that were known, and since when.
    private var known: [(time: UInt64, version: Int64)]
    /// When it has ended by itself at the latest, if it still waits, and its proposal: as far as that is known.
    private var dueBy: UInt64?
    private var answerDueBy: UInt64?
    /// The bills that digests stand for, as far as they were shown.
    private var bills: [String: OrderContents] = [:]
    /// Whether it is judged no further.
    package private(set) var isBroken = false
    private(set) var history: [String] = []

    /// An order that a checkout placed.
    init(_ facts: OrderFacts, outlet: Int, sentAt sent: UInt64, answeredAt answered: UInt64) {
        self.facts = facts
        self.outlet = outlet
        (placedSince, placedUntil) = (sent, answered)
        let wait = facts.isPaidFirst ? facts.terms.payWithin : facts.terms.acceptWithin
        var state = OrderState(placed: facts, due: OrderModel.due(wait, after: sent))
        if state.status == .placed { for change in facts.whenReleased { state.take(change) } }
        if state.due != nil { dueBy = OrderModel.late(wait, after: answered) }
        courses = [Course(states: [state])]
        known = [(answered, state.version)]
    }

    // MARK: What others may know of it

    package var id: String { facts.id }

    /// Its state after everything that is known, in one of the possible courses.
    package var state: OrderState { courses[0].now }

    /// The lines, for who gives something back.
    package var lines: [(id: String, quantity: Int)] { state.contents.lines.map { ($0.id, $0.quantity) } }

    package var total: Int64 { state.contents.bill.total }

    /// The digest of what is proposed; nil if nothing is, or nobody has seen it.
    package var proposedDigest: String? {
        state.proposal.flatMap { proposal in bills.first { $0.value == proposal.after }?.key }
    }

    /// Whether it may be changed: it was not given back in part, and nobody is about to.
    package var canChange: Bool {
        facts.menu != nil && courses.allSatisfy { $0.now.refunded.isEmpty }
            && !pending.values.contains { if case .refund = $0.step { true } else { false } }
    }

    /// Whether some of it may be given back: nobody is about to change it.
    package var canRefund: Bool {
        courses.allSatisfy { $0.now.proposal == nil }
            && !pending.values.contains { if case .change = $0.step { true } else { false } }
    }

    /// How many steps are on their way.
    package var stepsUnderWay: Int { pending.count }

    /// When it has ended by itself at the latest, unless it is known to wait no longer.
    package var deadline: UInt64? {
        guard !isBroken else { return nil }
        let ends = courses.contains { $0.now.due != nil } ? dueBy : nil
        let isAnswered = courses.allSatisfy { $0.now.answerDue == nil }
        return [ends, isAnswered ? nil : answerDueBy].compactMap(\.self).min()
    }

    // MARK: Steps

    func begin(_ customer: Int, _ step: OrderStep, at time: UInt64) {
        pending[customer] = Pending(step: step, sent: time, floor: floor(at: time))
    }

    /// The version that was known before a moment.
    private func floor(at time: UInt64) -> Int64 { known.last { $0.time < time }?.version ?? 1 }

    private func learn(_ version: Int64, at time: UInt64) {
        if version > known[known.count - 1].version { known.append((time, version)) }
    }

    /// Adds every course that things may have taken until a moment.
    private func expand(until time: UInt64) {
        let time = Int64(time)
        var found = Set(courses)
        var next = courses
        let pending = pending.sorted { $0.key < $1.key }
        while let course = next.popLast() {
            var following: [Course] = []
            for (customer, waiting) in pending where course.done[customer] == nil {
                guard let state = state(after: waiting, course.now) else { continue }
                var after = course
                after.states.append(state)
                after.done[customer] = state.version
                following.append(after)
            }
            func pass(_ due: Int64?, _ changes: [OrderChange]) {
                guard let due, due <= time else { return }
                var after = course
                var state = course.now
                for change in changes { state.take(change) }
                after.states.append(state)
                following.append(after)
            }
            pass(course.now.due, course.now.whenTimePasses)
            pass(course.now.answerDue, [.changeExpired])
            if course.now.givesBack { pass(time, [.claimsReturned]) }
            for course in following where found.insert(course).inserted {
                courses.append(course)
                next.append(course)
            }
            if found.count > OrderModel.limit { return isBroken = true }
        }
    }

    /// What a step leads to; nil where it changes nothing.
    private func state(after waiting: Pending, _ before: OrderState) -> OrderState? {
        guard case .changes(let changes) = outcome(of: waiting.step, before) else { return nil }
        return changes.reduce(into: before) { state, change in
            let wait =
                switch change {
                case .coverLost: facts.terms.payWithin
                case .changeProposed(let proposal): proposal.wait
                default: facts.terms.acceptWithin
                }
            state.take(change, due: OrderModel.due(wait, after: waiting.sent))
        }
    }

    private func outcome(of step: OrderStep, _ state: OrderState) -> OrderState.Outcome {
        state.outcome(of: step, facts, bills: bills)
    }

    /// The earliest moment that can be so many seconds after another; nil if nothing waits. The server's clock counts
    /// milliseconds, and need not agree exactly.
    private static func due(_ seconds: Int?, after time: UInt64) -> Int64? {
        guard let seconds, seconds > 0 else { return nil }
        let wait = Int64(seconds) * 1_000_000_000
        return Int64(time) + wait - min(wait, 50_000_000)
    }

    /// The latest one.
    private static func late(_ seconds: Int?, after time: UInt64) -> UInt64 {
        time + UInt64(seconds ?? 0) * 1_000_000_000
    }

    /// Keeps those courses that something agrees with. Returns whether there are any; otherwise nothing changes but
    /// that the order is judged no further.
    private func keep(_ agrees: (Course) -> Bool) -> Bool {
        let left = courses.filter(agrees)
        guard !left.isEmpty else {
            isBroken = true
            return false
        }
        courses = left
        return true
    }

    /// The answer to a step of a customer's.
    enum Answer {
        case changed, same, refused
        /// It changed the order, or somebody else had done the same just before.
        case either
        /// No course leads to it. What would have been possible, for a message.
        case impossible(String)
        /// The order is judged no further.
        case unknown
    }

    /// Judges the answer to a step, and learns from it.
    ///
    /// - Parameters:
    ///   - reply: a version, or the code of a refusal.
    ///   - isLast: whether it decides what became of the step; otherwise it was sent again.
    func judge(_ customer: Int, version: Int64?, refusal: String?, at time: UInt64, isLast: Bool) -> Answer {
        guard !isBroken, let waiting = pending[customer] else {
            if isLast { pending[customer] = nil }
            return .unknown
        }
        expand(until: time)
        guard !isBroken else { return .unknown }
        func outcomes(_ course: Course) -> [(version: Int64, outcome: OrderState.Outcome)] {
            course.states.filter { $0.version >= waiting.floor }.map {
                ($0.version, outcome(of: waiting.step, $0))
            }
        }
        func agrees(_ course: Course) -> Bool {
            if let version {
                if let done = course.done[customer] { return done == version }
                return outcomes(course).contains { $0.version == version && $0.outcome == .same }
            }
            guard course.done[customer] == nil, let refusal else { return false }
            return outcomes(course).contains { _, outcome in
                if case .refused(let code) = outcome { isSame(code, refusal) } else { false }
            }
        }
        let possible = Set(
            courses.flatMap { course in
                course.done[customer].map { [":\($0)"] } ?? outcomes(course).map { $1.text(after: $0) }
            }
        ).sorted().joined(separator: " or ")
        guard keep(agrees) else { return .impossible(possible) }
        let isDone = courses.contains { $0.done[customer] != nil }
        let isCertain = courses.allSatisfy { $0.done[customer] != nil }
        if let version { learn(version, at: time) }
        // A step that changes nothing may do so when it is sent again.
        guard isLast || isDone else { return refusal == nil ? .same : .refused }
        if isLast {
            pending[customer] = nil
            for index in courses.indices { courses[index].done[customer] = nil }
            var found: Set<Course> = []
            courses = courses.filter { found.insert($0).inserted }
            if isDone, case .change(_, _, let seconds) = waiting.step {
                answerDueBy = OrderModel.late(seconds ?? OrderProposal.usualWait, after: time)
            }
            if isDone, case .pay = waiting.step {
                if state.status == .placed, facts.hasToBeAccepted {
                    dueBy = OrderModel.late(facts.terms.acceptWithin, after: time)
                }
                if state.status == .awaitingPayment, state.hasLostCover {
                    dueBy = OrderModel.late(facts.terms.payWithin, after: time)
                }
            }
        }
        return isDone ? isCertain ? .changed : .either : refusal == nil ? .same : .refused
    }

    /// The server was unable to decide a step: it changed nothing.
    func abandon(_ customer: Int, at time: UInt64) {
        guard pending[customer] != nil, !isBroken else { return pending[customer] = nil }
        _ = keep { $0.done[customer] == nil }
        pending[customer] = nil
    }

    func note(_ step: String) {
        if history.count == OrderModel.keptSteps { history.removeFirst() }
        history.append(step)
    }

    // MARK: Documents

    /// Judges a document that shows the order as it was between two moments; one that was sent without being asked
    /// for may be older. Learns from it.
    ///
    /// - Parameters:
    ///   - sent: when the document was asked for; nil if it was not.
    ///   - back: when the server was back after it was last away.
    ///   - isOfKitchen: whether it is an element of `KITCHEN`.
    func see(
        _ shown: JSON, sentAt sent: UInt64?, at time: UInt64, servedSince back: UInt64, isOfKitchen: Bool = false
    ) throws(Violation) {
        guard !isBroken else { return }
        expand(until: time)
        guard !isBroken else { return }
        let floor = sent.map { self.floor(at: $0) } ?? 0
        let version = shown["version"]?.integer ?? 0
        let prepMinutes = UInt64(facts.terms.prepMinutes ?? 0)
        let mayBeLate = time - min(time, known[0].time) > prepMinutes * 60_000_000_000
        func difference(_ state: OrderState) -> String? {
            // Kitchens of the load generator say that an order will be ready after the run.
            let view = isOfKitchen ? OrderFacts.View.kitchen(mayBeLate: mayBeLate && state.readyBy == nil) : .document
            return facts.difference(state, in: view, from: shown)
        }
        let candidates = Set(
            courses.flatMap(\.states).filter {
                $0.version == version && version >= floor && (!isOfKitchen || $0.status.isInKitchen)
            })
        let right = candidates.filter { difference($0) == nil }
        guard keep({ !right.isDisjoint(with: $0.states) }), let state = right.first else {
            let check: Check = shown["ending"]?["by"]?.text == "system" ? .deadline : .order
            guard let nearest = candidates.first else {
                let versions = Set(courses.flatMap(\.states).map(\.version)).filter { $0 >= floor }.sorted()
                throw Violation(
                    check,
                    "order \(id) is shown at version \(version), \(shown["status"]?.summary ?? "without a status"); "
                        + "it must be at one of \(versions)")
            }
            throw Violation(
                check,
                "order \(id) at version \(version) is not as it should be: "
                    + (difference(nearest) ?? ""))
        }
        learn(version, at: time)
        try learnBills(of: state, from: shown)
        try check(state.due == nil ? nil : dueBy, "still \(state.status.rawValue)", sentAt: sent, servedSince: back)
        let isOpen = state.answerDue != nil
        try check(isOpen ? answerDueBy : nil, "shown with a proposal", sentAt: sent, servedSince: back)
    }

    /// Judges whether something had to end by itself before it was asked for.
    private func check(
        _ dueBy: UInt64?, _ what: String, sentAt sent: UInt64?, servedSince back: UInt64
    ) throws(Violation) {
        guard let sent, let dueBy, sent > max(dueBy, back) + OrderModel.patience else { return }
        isBroken = true
        let seconds = (sent - dueBy) / 1_000_000_000
        throw Violation(.deadline, "order \(id) is \(what), \(seconds) s after its time has passed")
    }

    /// Learns which bill a digest stands for: one bill has one digest, and one digest one bill.
    private func learnBills(of state: OrderState, from shown: JSON) throws(Violation) {
        let shownChanges = (shown["changes"]?.array ?? []) + [shown["proposal"]].compactMap(\.self)
        let changes = state.changes.suffix(shownChanges.count)
        guard changes.count == shownChanges.count, shown["lines"]?.array?.first?["total"] != nil else { return }
        for (change, shown) in zip(changes, shownChanges) {
            for (bill, key) in [(change.before, "before"), (change.after, "after")] as [(OrderContents, Text)] {
                guard let digest = shown[key]?["digest"]?.string else { continue }
                let known = bills.first { $0.value == bill }?.key
                guard known ?? digest == digest, bills[digest] ?? bill == bill else {
                    throw Violation(
                        .order, "order \(id) has the digest \(digest) for two bills, or another one for the same bill")
                }
                bills[digest] = bill
            }
        }
    }

    /// Judges its row in a list that was asked for and answered at two moments. Learns from it.
    func see(row shown: JSON, sentAt sent: UInt64, at time: UInt64) throws(Violation) {
        guard !isBroken else { return }
        expand(until: time)
        guard !isBroken else { return }
        let floor = self.floor(at: sent)
        let states = Set(courses.flatMap(\.states).filter { $0.version >= floor })
        let right = states.filter { facts.difference($0, in: .row, from: shown) == nil }
        guard keep({ !right.isDisjoint(with: $0.states) }), let state = right.first else {
            throw Violation(
                .orders,
                "ORDERS shows order \(id) as \(shown.summary); it must be "
                    + Set(states.map { "\($0.status.rawValue) at version \($0.version)" }).sorted()
                    .joined(separator: " or "))
        }
        learn(state.version, at: time)
    }

    /// Whether it must have been in states that are meant all the time between two moments.
    func mustBe(
        since sent: UInt64, until time: UInt64, _ isMeant: (OrderState.Status) -> Bool
    ) -> Bool {
        guard !isBroken, known[0].time < sent else { return false }
        expand(until: time)
        let floor = self.floor(at: sent)
        return !isBroken
            && courses.allSatisfy { $0.states.allSatisfy { $0.version < floor || isMeant($0.status) } }
    }

    /// Whether it may have come as far as the log says.
    func mayHaveEnded(at version: Int64, _ status: String, _ refunded: Int64, time: UInt64) -> Bool {
        expand(until: time)
        return isBroken
            || courses.contains {
                $0.now.version == version && isSame($0.now.status.rawValue, status) && $0.now.refunded.money == refunded
            }
    }
}

extension OrderState.Outcome {
    /// What it is answered with.
    fileprivate func text(after version: Int64) -> String {
        switch self {
        case .changes(let changes): ":\(version + Int64(changes.count))"
        case .same: "its version"
        case .refused(let code): "-\(code)"
        }
    }
}
