/// What tells the elements of an array from one another, so that they can be found again in another array.
enum ElementIdentity {
    /// The members that make up an element's identity, one or two; the first of these that all elements have, and that
    /// are different in each, count.
    static let members: [[StaticString]] = [["id"], ["line"], ["outlet", "item"]]

    /// How many elements may be passed over to where two arrays go on in step.
    private static let lookAhead = 8

    private struct Identity: Hashable {
        var first: JSONSlice
        var second: JSONSlice?
    }

    /// For each element of an array, the index in another that it has there; nil where it is gone. Without identities
    /// there is no answer.
    static func places(
        of old: ArraySlice<JSONSlice>, in new: ArraySlice<JSONSlice>
    ) throws(JSONReadingError) -> [Int?]? {
        // Most elements are what they were, so most need no identity.
        var places = inStep(old, new)
        let lost = old.indices.filter { places[$0 - old.startIndex] == nil }
        let known = Set(places.lazy.compactMap(\.self))
        let come = new.indices.filter { !known.contains($0) }
        for members in members {
            guard let newPlaces = try identified(come, of: new, by: members) else { continue }
            guard let oldPlaces = try identified(lost, of: old, by: members) else { continue }
            for (identity, place) in oldPlaces { places[place - old.startIndex] = newPlaces[identity] }
            return places
        }
        return nil
    }

    /// Some elements by their identity; nil where they have none.
    private static func identified(
        _ indices: [Int], of elements: ArraySlice<JSONSlice>, by members: [StaticString]
    ) throws(JSONReadingError) -> [Identity: Int]? {
        var identified: [Identity: Int] = [:]
        identified.reserveCapacity(indices.count)
        for index in indices {
            guard let identity = try identity(of: elements[index], by: members),
                identified.updateValue(index, forKey: identity) == nil
            else { return nil }
        }
        return identified
    }

    private static func identity(
        of element: JSONSlice, by members: [StaticString]
    ) throws(JSONReadingError) -> Identity? {
        guard element.isObject else { return nil }
        var (first, second): (JSONSlice?, JSONSlice?)
        try element.forEachMember { member in
            if first == nil, member.key == members[0] {
                first = member.value
            } else if members.count > 1, second == nil, member.key == members[1] {
                second = member.value
            }
            return first == nil || members.count > 1 && second == nil
        }
        guard let first, first.isString, members.count == 1 || second?.isString ?? false else { return nil }
        return Identity(first: first, second: second)
    }

    /// For each element of an array, the index of the same one in another, as long as both go on in step or come back
    /// to it after a few elements.
    private static func inStep(_ old: ArraySlice<JSONSlice>, _ new: ArraySlice<JSONSlice>) -> [Int?] {
        var places = [Int?](repeating: nil, count: old.count)
        var (oldIndex, newIndex) = (old.startIndex, new.startIndex)
        func isSame(_ passedOld: Int, _ passedNew: Int) -> Bool {
            oldIndex + passedOld < old.endIndex && newIndex + passedNew < new.endIndex
                && old[oldIndex + passedOld] == new[newIndex + passedNew]
        }
        func nextStep() -> (old: Int, new: Int)? {
            for passed in 0...lookAhead {
                for passedOld in 0...passed where isSame(passedOld, passed - passedOld) {
                    return (passedOld, passed - passedOld)
                }
            }
            return nil
        }
        while let passed = nextStep() {
            (oldIndex, newIndex) = (oldIndex + passed.old, newIndex + passed.new)
            places[oldIndex - old.startIndex] = newIndex
            (oldIndex, newIndex) = (oldIndex + 1, newIndex + 1)
        }
        return places
    }
}
