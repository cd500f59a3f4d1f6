/// The promotions of an outlet.
public enum Promotions: Decider {
    /// The most promotions of an outlet at a time.
    public static let maximumCount = 50

    // MARK: Commands

    /// What a merchant asks.
    public enum Command: Equatable, Sendable {
        /// A promotion is to be like this.
        case put(Promotion)
        /// There is to be no such promotion any more.
        case end(Identifier)
        /// Marks as spent what has been used as often as it may be, and takes that back. What there is no promotion of,
        /// or no limit, is passed over.
        case followStock([StockChange])
    }

    // MARK: Events

    /// What happened to an outlet's promotions.
    public enum Event: Equatable, Sendable {
        case put(Promotion)
        case ended(Identifier)
        /// It has been used as often as it may be.
        case spent(Identifier)
        /// It can be used again, as an order has given it back.
        case resumed(Identifier)
    }

    // MARK: State

    /// The promotions that have not been ended.
    public struct State: Equatable, Sendable {
        /// In the order of their ids.
        public fileprivate(set) var list: [Promotion] = []
        /// Those that have been used as often as they may be.
        public fileprivate(set) var spent: Set<Identifier> = []

        fileprivate init() {}

        /// The promotion of an id.
        public subscript(id: Identifier) -> Promotion? { list.first { $0.id == id } }

        /// Whether a customer can say a code.
        public func knows(code: Text) -> Bool { list.contains { $0.code == code } }
    }

    /// None.
    public static let initial = State()

    // MARK: Decide

    public static func decide(_ command: Command, in state: State) throws(Rejection) -> [Event] {
        switch command {
        case .put(let promotion):
            try promotion.validate()
            if state[promotion.id] == promotion { return [] }
            if let code = promotion.code,
                let other = state.list.first(where: { $0.code == code && $0.id != promotion.id })
            {
                throw .invalid("code", "'\(code)' is the code of promotion '\(other.id)'")
            }
            guard state[promotion.id] != nil || state.list.count < maximumCount else {
                throw Rejection(.limit, "an outlet has at most \(maximumCount) promotions; end one of them first")
            }
            return [.put(promotion)]
        case .end(let id):
            guard state[id] != nil else { throw Rejection(.notFound, "the outlet has no promotion '\(id)'") }
            return [.ended(id)]
        case .followStock(let changes): return changes.compactMap { follow($0, in: state) }
        }
    }

    private static func follow(_ change: StockChange, in state: State) -> Event? {
        guard change.key.kind == .promotion, let id = Identifier(change.key.id.string), state[id]?.limit != nil,
            state.spent.contains(id) != change.isSoldOut
        else { return nil }
        return change.isSoldOut ? .spent(id) : .resumed(id)
    }

    // MARK: Evolve

    public static func evolve(_ state: inout State, _ event: Event) throws(ImpossibleEvent) {
        switch event {
        case .put(let promotion):
            do throws(Rejection) {
                try promotion.validate()
            } catch {
                throw ImpossibleEvent("a promotion that cannot be: '\(promotion.id)'")
            }
            if let code = promotion.code, state.list.contains(where: { $0.code == code && $0.id != promotion.id }) {
                throw ImpossibleEvent("two promotions with one code: '\(promotion.id)'")
            }
            let index = state.list.firstIndex { promotion.id <= $0.id } ?? state.list.count
            if index < state.list.count, state.list[index].id == promotion.id {
                // Another limit: the supply says whether it has been reached.
                if state.list[index].limit != promotion.limit { state.spent.remove(promotion.id) }
                state.list[index] = promotion
            } else {
                state.list.insert(promotion, at: index)
            }
        case .ended(let id):
            guard let index = state.list.firstIndex(where: { $0.id == id }) else {
                throw ImpossibleEvent("the end of an unknown promotion: '\(id)'")
            }
            state.list.remove(at: index)
            state.spent.remove(id)
        case .spent(let id):
            guard state[id]?.limit != nil, state.spent.insert(id).inserted else {
                throw ImpossibleEvent("a promotion spent that has no limit, or was spent: '\(id)'")
            }
        case .resumed(let id):
            guard state.spent.remove(id) != nil else {
                throw ImpossibleEvent("a promotion resumed that was not spent: '\(id)'")
            }
        }
    }
}
