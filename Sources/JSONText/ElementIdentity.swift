/// What tells the elements of an array from one another, so that they can be found again in another array.
enum ElementIdentity {
    /// The members that make up an element's identity; the first of these that all elements have, and that are
    /// different in each, count.
    static let members = [["id"], ["line"], ["outlet", "item"]]

    /// Ends a part of an identity: no byte of UTF-8.
    private static let separator: UInt8 = 0xFF

    /// The identities of the elements of two arrays; nil where they have none.
    static func identities(of a: [JSONValue], and b: [JSONValue]) -> ([[UInt8]], [[UInt8]])? {
        for members in members {
            if let a = identities(of: a, by: members), let b = identities(of: b, by: members) { return (a, b) }
        }
        return nil
    }

    private static func identities(of elements: [JSONValue], by members: [String]) -> [[UInt8]]? {
        var all: Set<[UInt8]> = []
        var identities: [[UInt8]] = []
        for element in elements {
            var identity: [UInt8] = []
            for member in members {
                guard case .string(let text) = element[member] else { return nil }
                identity += text.utf8
                identity.append(separator)
            }
            guard all.insert(identity).inserted else { return nil }
            identities.append(identity)
        }
        return identities
    }
}
