internal import LineClient
internal import LineProtocol

/// Asks what a feed was last found to hold.
struct FeedLookup: Exchange {
    private let outlet: String
    private var isAsked = false
    private(set) var last: FeedReport?

    init(outlet: String) { self.outlet = outlet }

    mutating func next() -> String? {
        guard !isAsked else { return nil }
        isAsked = true
        return outlet
    }

    func command(for question: String) -> [String] { ["MENU.FEED.GET", question] }

    mutating func receive(_ reply: Reply, to question: String) throws(ConnectionError) {
        if let refusal = ConnectionError(fatal: reply) { throw refusal }
        last = FeedReport(reply)
    }
}
