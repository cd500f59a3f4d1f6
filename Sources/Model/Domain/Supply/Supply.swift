/// What an outlet has counted: how much is left of it, and which orders hold how much.
///
/// An order is answered once, and for good: whoever asks again, from whichever server, hears the same.
public enum Supply: Decider {
    /// For how long an order is remembered that was answered, in seconds: 30 days. What it holds cannot be returned
    /// after that.
    public static let rememberedSeconds = 30 * 86_400

    // MARK: Commands

    /// What is asked of an outlet's supply.
    public enum Command: Equatable, Sendable {
        /// A merchant counts something, or no longer.
        case stock(Claim.Key, Count)
        /// An order needs all of these.
        case hold([Claim], order: Identifier, now: Timestamp)
        /// An order needs these no longer.
        case takeBack([Claim], order: Identifier)
    }

    /// What a merchant says of something.
    public enum Count: Equatable, Sendable {
        /// So much can still be ordered.
        case left(Int64)
        /// So much more than before.
        case more(Int64)
        /// It is not counted.
        case uncounted
    }

    // MARK: Events

    /// What happened to an outlet's supply.
    public enum Event: Equatable, Sendable {
        /// So much can be ordered from now on; nil for as much as anybody wants.
        case stocked(Claim.Key, left: Int64?)
        /// An order has all of these.
        case held([Claim], order: Identifier, at: Timestamp)
        /// An order gets nothing.
        case refused(Refusal, order: Identifier, at: Timestamp)
        /// An order has given these back.
        case returned([Claim], order: Identifier)
    }

    /// Why an order gets nothing.
    public struct Refusal: Equatable, Sendable {
        /// As the customer gets it.
        public var code: Rejection.Code
        /// Why, in words for the customer.
        public var text: Text

        /// A refusal.
        public init(_ code: Rejection.Code, _ text: Text) {
            self.code = code
            self.text = text
        }
    }

    // MARK: State

    /// What an order was answered.
    public enum Answer: Equatable, Sendable {
        /// It holds these; nothing once all were given back.
        case held([Claim])
        case refused(Refusal)
    }

    /// What is left, and who was answered what.
    public struct State: Equatable, Sendable {
        /// How much is left, and how much is taken.
        public fileprivate(set) var counts = Counts()
        /// What orders were answered lately.
        public fileprivate(set) var answers: [Identifier: Answer] = [:]
        /// These orders, as they were answered.
        private var answered: [(order: Identifier, at: Timestamp)] = []
        /// How many of them are forgotten.
        private var forgotten = 0

        fileprivate init() {}

        /// How much of what is counted can still be ordered.
        public var left: [Claim.Key: Int64] { counts.left }

        /// About the bytes of memory that it takes.
        public var bytes: Int { 100 * (left.count + counts.taken.count) + 250 * answers.count }

        fileprivate mutating func note(_ answer: Answer, to order: Identifier, at time: Timestamp) {
            while forgotten < answered.count,
                answered[forgotten].at.adding(seconds: Supply.rememberedSeconds) < time
            {
                answers[answered[forgotten].order] = nil
                forgotten += 1
            }
            // Seldom, so that each is moved a bounded number of times.
            if forgotten > 64, 2 * forgotten > answered.count {
                answered.removeFirst(forgotten)
                forgotten = 0
            }
            answers[order] = answer
            answered.append((order, time))
        }

        /// Whether the same is left, and the same orders were answered.
        public static func == (a: State, b: State) -> Bool { a.counts == b.counts && a.answers == b.answers }
    }

    /// Nothing is counted.
    public static let initial = State()

    // MARK: Decide

    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch command {
        case .stock(let key, .left(let count)):
            try check(count)
            return state.left[key] == count ? [] : [.stocked(key, left: count)]
        case .stock(let key, .more(let count)):
            guard let left = state.left[key] else {
                throw Rejection(.state, "\(key) is not counted; say first how many there are")
            }
            try check(count)
            let (sum, overflow) = left.addingReportingOverflow(count)
            try check(overflow ? .max : sum)
            return count == 0 ? [] : [.stocked(key, left: sum)]
        case .stock(let key, .uncounted):
            return state.left[key] == nil ? [] : [.stocked(key, left: nil)]

        case .hold(let claims, let order, let now):
            if state.answers[order] != nil { return [] }
            guard claims.isRecordable else { throw .invalid("claims", "are too many, or not in their order") }
            if let refusal = refusal(of: claims, in: state) { return [.refused(refusal, order: order, at: now)] }
            return [.held(claims, order: order, at: now)]

        case .takeBack(let claims, let order):
            guard case .held(let held) = state.answers[order] else { return [] }
            let back = claims.filter { held.contains($0) }
            return back.isEmpty ? [] : [.returned(back, order: order)]
        }
    }

    private static func check(_ count: Int64) throws(Rejection) {
        guard (0...Claim.maximumCount).contains(count) else {
            throw Rejection(.limit, "at most \(Claim.maximumCount) can be counted, not \(count)")
        }
    }

    /// Why an order cannot have all that it claims; nil if it can.
    private static func refusal(of claims: [Claim], in state: State) -> Refusal? {
        for claim in claims where !state.counts.hasRoom(for: claim) {
            return switch claim.key.kind {
            case .item, .option:
                Refusal(
                    .soldOut,
                    state.left[claim.key] == 0
                        ? "\(claim.key) is sold out" : "there is not enough left of \(claim.key)")
            case .slot: Refusal(.noSlot, "the slot at \(claim.key.id) is full")
            case .promotion: Refusal(.promo, "\(claim.key) has been used as often as it can be")
            case .customer: Refusal(.promo, "the customer has used a promotion as often as one customer can")
            }
        }
        return nil
    }

    /// What is sold out or used up, or no longer, after these events.
    ///
    /// - Parameter state: the one before them.
    public static func changes(by events: [Event], in state: State) -> [StockChange] {
        var left: [Claim.Key: (before: Int64?, after: Int64?)] = [:]
        func add(_ count: Int64, of claim: Claim) {
            guard claim.key.kind.isShown else { return }
            let before = state.counts.left(for: claim)
            left[claim.key, default: (before, before)].after? += count
        }
        for event in events {
            switch event {
            case .stocked(let key, let count): left[key] = (state.left[key], count)
            case .held(let claims, _, _): for claim in claims { add(-claim.count, of: claim) }
            case .returned(let claims, _): for claim in claims { add(claim.count, of: claim) }
            case .refused: break
            }
        }
        func isGone(_ left: Int64?) -> Bool { left.map { $0 <= 0 } ?? false }
        return left.compactMap { key, left in
            isGone(left.before) == isGone(left.after) ? nil : StockChange(key, isSoldOut: isGone(left.after))
        }.sorted { $0.key < $1.key }
    }

    // MARK: Evolve

    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch event {
        case .stocked: try state.counts.take(event)
        case .held(let claims, let order, let time):
            guard state.answers[order] == nil else { throw ImpossibleEvent("an order answered twice: '\(order)'") }
            try state.counts.take(event)
            state.note(.held(claims), to: order, at: time)
        case .refused(let refusal, let order, let time):
            guard state.answers[order] == nil else { throw ImpossibleEvent("an order answered twice: '\(order)'") }
            state.note(.refused(refusal), to: order, at: time)
        case .returned(let claims, let order):
            guard case .held(let held) = state.answers[order], claims.allSatisfy(held.contains) else {
                throw ImpossibleEvent("more returned than was held: '\(order)'")
            }
            try state.counts.take(event)
            state.answers[order] = .held(held.filter { !claims.contains($0) })
        }
    }
}

extension Supply {
    /// How much is left of what is counted, and how much is taken of what has a limit.
    public struct Counts: Equatable, Sendable {
        /// How much of what is counted can still be ordered.
        public private(set) var left: [Claim.Key: Int64] = [:]
        /// How much orders have of what has a limit. Slots are dropped some time after they have passed, and
        /// promotions once nobody uses them.
        public private(set) var taken: [Claim.Key: Int64] = [:]

        /// Nothing is counted.
        public init() {}

        /// Everything that is counted or taken, as ``all`` has it.
        public init(_ all: [Claim]) {
            for claim in all {
                if claim.key.kind.isLimited { taken[claim.key] = claim.count } else { left[claim.key] = claim.count }
            }
        }

        /// Everything that is counted or taken, each with its count.
        public var all: [Claim] {
            [left, taken].joined().map { Claim($0.key, $0.value) }.sorted { $0.key < $1.key }
        }

        /// How much of what a claim is about can still be had; nil for as much as anybody wants.
        func left(for claim: Claim) -> Int64? {
            claim.limit.map { $0 - (taken[claim.key] ?? 0) } ?? left[claim.key]
        }

        /// Whether an order can have this.
        func hasRoom(for claim: Claim) -> Bool {
            left(for: claim).map { $0 >= claim.count } ?? true
        }

        /// Takes in an event; changes nothing where that is impossible.
        public mutating func take(_ event: Event) throws(ImpossibleEvent) {
            switch event {
            case .stocked(let key, let count):
                guard count.map({ $0 == 0 || Claim.recordable.contains($0) }) ?? true, !key.kind.isLimited else {
                    throw ImpossibleEvent("a count that cannot be of \(key)")
                }
                left[key] = count
            case .held(let claims, let order, let time):
                guard claims.isRecordable else { throw ImpossibleEvent("claims that cannot be: '\(order)'") }
                for claim in claims where !hasRoom(for: claim) {
                    throw ImpossibleEvent("more held than there was of \(claim.key): '\(order)'")
                }
                for claim in claims {
                    left[claim.key]? -= claim.count
                    guard claim.limit != nil else { continue }
                    if claim.key.kind == .slot, taken[claim.key] == nil {
                        taken = taken.filter { !$0.key.isOver(at: time) }
                    }
                    taken[claim.key, default: 0] += claim.count
                }
            case .refused: break
            case .returned(let claims, let order):
                guard claims.isRecordable, claims.allSatisfy({ (taken[$0.key] ?? .max) >= $0.count }) else {
                    throw ImpossibleEvent("more returned than was held: '\(order)'")
                }
                for claim in claims where (left[claim.key] ?? 0) > Claim.recordable.upperBound {
                    throw ImpossibleEvent("more returned than can be: '\(order)'")
                }
                for claim in claims {
                    left[claim.key]? += claim.count
                    taken[claim.key]? -= claim.count
                    if claim.key.kind.isOfPromotions, taken[claim.key] == 0 { taken[claim.key] = nil }
                }
            }
        }
    }
}

/// Something that is sold out or used up because nothing is left of it, or no longer.
public struct StockChange: Equatable, Sendable {
    /// What it is.
    public var key: Claim.Key
    /// Whether nothing is left.
    public var isSoldOut: Bool

    /// A change of what is sold out.
    public init(_ key: Claim.Key, isSoldOut: Bool) {
        self.key = key
        self.isSoldOut = isSoldOut
    }
}
