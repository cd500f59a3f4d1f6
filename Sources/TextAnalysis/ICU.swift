internal import CLibICU

/// How ICU's functions are called.
enum ICU {
    /// Has an ICU function write to the array, which grows if it is too short; returns how many elements were written.
    static func fill<Element: FixedWidthInteger>(
        _ target: inout [Element], _ write: (UnsafeMutablePointer<Element>?, Int32, inout UErrorCode) -> Int32
    ) -> Int {
        var status = U_ZERO_ERROR
        var count = target.withUnsafeMutableBufferPointer { write($0.baseAddress, Int32($0.count), &status) }
        if status == U_BUFFER_OVERFLOW_ERROR {
            target = [Element](repeating: 0, count: max(Int(count), 2 * target.count))
            status = U_ZERO_ERROR
            count = target.withUnsafeMutableBufferPointer { write($0.baseAddress, Int32($0.count), &status) }
        }
        check(status)
        return Int(count)
    }

    /// Traps where ICU could not do what it can do with any text: it lacks memory or its data.
    static func check(_ status: UErrorCode) {
        guard status.rawValue <= U_ZERO_ERROR.rawValue else {
            fatalError("ICU failed: \(String(cString: tiffin_icu_error_name(status)))")
        }
    }
}
