internal import ICUBridge

/// UTF-16 that ICU reads and writes, in memory kept from one text to the next.
struct UnitBuffer {
    private var storage = [UInt16](repeating: 0, count: 256)
    private(set) var count = 0

    /// The units, for reading.
    func withUnits<Result>(_ body: (UnsafeBufferPointer<UInt16>) -> Result) -> Result {
        storage.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// Replaces the units by what an ICU function writes: it gets the target, its capacity and the status, and returns
    /// how many units there are, written or not.
    mutating func fill(_ write: (UnsafeMutablePointer<UInt16>?, Int32, inout icu_bridge_status) -> Int32) {
        count = ICU.fill(&storage, write)
    }

    mutating func removeAll() { count = 0 }

    mutating func append(_ unit: UInt16) {
        if count == storage.count { storage.append(contentsOf: repeatElement(0, count: count)) }
        storage[count] = unit
        count += 1
    }
}
