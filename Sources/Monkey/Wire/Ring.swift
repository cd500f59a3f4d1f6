/// A queue in one block of memory that is used round and round.
struct Ring<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: 8)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    var first: Element? { count == 0 ? nil : slots[head] }

    private mutating func grow() {
        var wider = [Element?](repeating: nil, count: slots.count * 2)
        for index in 0..<count { wider[index] = slots[(head + index) & (slots.count - 1)] }
        slots = wider
        head = 0
    }
}
