let binaryFormat: Int32 = 1

/// A statement's parameters, in the form that libpq takes.
struct EncodedParameters {
    private var bytes: [UInt8] = []
    /// Where each one starts; nil for null.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []

    /// nil if together they are longer than `limit`.
    init?(_ parameters: [Parameter], limit: Int) {
        var total = 0
        for parameter in parameters {
            let size = parameter.size ?? 0
            guard size <= limit - total else { return nil }
            total += size
        }
        // One byte more, so that there is an address even if all are empty: it tells empty from null.
        bytes.reserveCapacity(total + 1)
        for parameter in parameters {
            starts.append(parameter.size == nil ? nil : bytes.count)
            lengths.append(Int32(parameter.size ?? 0))
            parameter.encode(into: &bytes)
        }
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            let base = bytes.assumingMemoryBound(to: CChar.self).baseAddress!
            let formats = [Int32](repeating: binaryFormat, count: lengths.count)
            return body(starts.map { $0.map { base + $0 } }, lengths, formats)
        }
    }
}
