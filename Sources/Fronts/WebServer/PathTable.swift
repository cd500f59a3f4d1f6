/// Finds what is at a path, by patterns such as `/v1/outlets/{outlet}/home`, where `{…}` stands for any part that is
/// not empty.
///
/// A request is matched part by part, however many patterns there are.
struct PathTable<Value: Sendable>: Sendable {
    private struct Node: Sendable {
        /// Where a part leads: the index of a node.
        var parts: [String: Int] = [:]
        /// Where every other part leads.
        var others: Int?
        var values: [Value] = []
    }

    private var nodes = [Node()]

    /// - Parameter rows: several can have one pattern.
    init(_ rows: some Sequence<(pattern: String, value: Value)>) {
        for (pattern, value) in rows {
            var node = 0
            for part in PathTable.parts(of: pattern) { node = next(after: node, part) }
            nodes[node].values.append(value)
        }
    }

    /// The parts of a pattern.
    static func parts(of pattern: String) -> [String] {
        pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    private mutating func next(after node: Int, _ part: String) -> Int {
        let isAny = part.hasPrefix("{")
        if let known = isAny ? nodes[node].others : nodes[node].parts[part] { return known }
        nodes.append(Node())
        if isAny { nodes[node].others = nodes.count - 1 } else { nodes[node].parts[part] = nodes.count - 1 }
        // What a path means must not depend on what else there is.
        precondition(nodes[node].others == nil || nodes[node].parts.isEmpty, "\(part) and others at one place")
        return nodes.count - 1
    }

    /// What has a pattern that the path matches, in the order of the rows.
    func values(at path: [String]) -> [Value] {
        var node = 0
        for part in path {
            guard let next = nodes[node].parts[part] ?? (part.isEmpty ? nil : nodes[node].others) else { return [] }
            node = next
        }
        return nodes[node].values
    }
}
