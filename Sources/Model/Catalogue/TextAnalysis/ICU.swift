internal import ICUBridge

/// How ICU's functions are called.
enum ICU {
    /// Has an ICU function write to the array, which grows if it is too short; returns how many elements were written.
    static func fill<Element: FixedWidthInteger>(
        _ target: inout [Element], _ write: (UnsafeMutablePointer<Element>?, Int32, inout icu_bridge_status) -> Int32
    ) -> Int {
        var status: icu_bridge_status = 0
        var count = target.withUnsafeMutableBufferPointer { write($0.baseAddress, Int32($0.count), &status) }
        if status == icu_bridge_buffer_overflow {
            target = [Element](repeating: 0, count: max(Int(count), 2 * target.count))
            status = 0
            count = target.withUnsafeMutableBufferPointer { write($0.baseAddress, Int32($0.count), &status) }
        }
        check(status)
        return Int(count)
    }

    /// Traps where ICU could not do what it can do with any text: it lacks memory or its data.
    static func check(_ status: icu_bridge_status) {
        guard status <= 0 else {
            fatalError("ICU failed: \(String(cString: icu_bridge_error_name(status)))")
        }
    }
}
