/// A queue in one block of memory that is used round and round.
package struct Ring<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: 8)
    private var head = 0
    /// How many wait.
    package private(set) var count = 0

    /// An empty queue.
    package init() {}

    /// Whether none waits.
    package var isEmpty: Bool { count == 0 }

    /// Adds one at the end.
    package mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    /// Takes the first one out; nil where there is none.
    package mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    /// The first one; nil where there is none.
    package var first: Element? { count == 0 ? nil : slots[head] }

    /// Changes the first element, if there is one.
    mutating func changeFirst(_ body: (inout Element) -> Void) {
        guard count > 0, var element = slots[head].take() else { return }
        body(&element)
        slots[head] = element
    }

    private mutating func grow() {
        var wider = [Element?](repeating: nil, count: slots.count * 2)
        for index in 0..<count { wider[index] = slots[(head + index) & (slots.count - 1)] }
        slots = wider
        head = 0
    }
}
