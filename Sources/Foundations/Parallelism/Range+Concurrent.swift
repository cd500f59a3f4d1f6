internal import Dispatch

// Work that is divided among the processor's cores, while its caller waits.
extension Range<Int> {
    /// Calls the body with each number, on several threads at once. No call may change what another one uses.
    public func concurrentForEach(_ body: (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            // All calls have ended when this goes on.
            nonisolated(unsafe) let body = body
            DispatchQueue.concurrentPerform(iterations: count) { body(lowerBound + $0) }
        }
    }

    /// What the function makes of each number, in their order; see ``concurrentForEach(_:)``.
    public func concurrentMap<Value>(_ transform: (Int) -> Value) -> [Value] {
        [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
            let places = buffer
            concurrentForEach { places.initializeElement(at: $0 - lowerBound, to: transform($0)) }
            initialized = count
        }
    }
}
