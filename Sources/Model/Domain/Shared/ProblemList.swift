/// What is wrong with the parts of a document, so that all of it is named at once.
public struct ProblemList: Sendable {
    /// The most problems that are named. If there are more, the last line says how many.
    public static let maximumCount = 20

    private var texts: [String] = []
    /// How many there are so far, those that are not named among them.
    private(set) var count = 0

    /// No problems.
    public init() {}

    /// Whether nothing was wrong so far.
    public var isEmpty: Bool { count == 0 }

    /// Adds one, such as `sections[0].items[2].price: must be a whole number`.
    public mutating func add(_ text: @autoclosure () -> String) {
        count += 1
        if count <= ProblemList.maximumCount { texts.append(text()) }
    }

    /// All of them in one line.
    public var text: String {
        guard count > ProblemList.maximumCount else { return texts.joined(separator: "; ") }
        let shown = texts.dropLast()
        return (shown + ["and \(count - shown.count) more"]).joined(separator: "; ")
    }

    /// Makes a check whose outcome is one of several. Anything else than a wrong value ends it all.
    mutating func note(_ check: () throws(Rejection) -> Void) throws(Rejection) {
        do throws(Rejection) {
            try check()
        } catch {
            guard error.code == .invalid else { throw error }
            add(error.message)
        }
    }

    /// Rejects what has a problem.
    func finish() throws(Rejection) {
        guard isEmpty else { throw Rejection(.invalid, text) }
    }
}
