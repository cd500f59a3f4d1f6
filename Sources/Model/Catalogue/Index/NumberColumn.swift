/// An optional number for each row: four bytes each as long as every number is that close to the base.
struct NumberColumn {
    /// What narrow numbers are counted from: 0 if the first number fits so, or else that number, as keys of prices begin
    /// with their currency. Nil until there is a number.
    private var base: Int64?
    private var narrow: [Int32] = []
    /// Replaces `narrow` from the first number on that does not fit.
    private var wide: [Int64]?

    /// The number of a row; nil if it has none, or there is no such row. `Int64.max` cannot be stored.
    subscript(row: UInt32) -> Int64? {
        get {
            guard Int(row) < wide?.count ?? narrow.count else { return nil }
            let key = key(row)
            return key == .max ? nil : key
        }
        set { set(newValue ?? .max, at: Int(row)) }
    }

    /// The number as a sort compares it: rows without one come last.
    func key(_ row: UInt32) -> Int64 {
        if wide != nil { return wide![Int(row)] }
        return widened(narrow[Int(row)])
    }

    private func widened(_ number: Int32) -> Int64 { number == .max ? .max : Int64(number) &+ (base ?? 0) }

    /// Nil for a number that is too far from the base.
    private mutating func narrowed(_ number: Int64) -> Int32? {
        guard number != .max else { return .max }
        let base = self.base ?? (Int32(exactly: number) == nil ? number : 0)
        self.base = base
        let (distance, isTooFar) = number.subtractingReportingOverflow(base)
        return isTooFar || distance == Int32.max ? nil : Int32(exactly: distance)
    }

    private mutating func set(_ number: Int64, at row: Int) {
        if wide == nil, let short = narrowed(number) {
            while narrow.count <= row { narrow.append(.max) }
            narrow[row] = short
            return
        }
        if wide == nil {
            wide = narrow.map(widened)
            narrow = []
        }
        while wide!.count <= row { wide!.append(.max) }
        wide![row] = number
    }
}
