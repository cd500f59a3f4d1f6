/// The numbers of rows.
protocol RowNumbers {
    init()

    /// The number of a row; nil if it has none.
    subscript(row: UInt32) -> Int64? { get set }
}

/// An optional number for each row: four bytes each as long as every number fits.
struct NumberColumn: RowNumbers {
    private var narrow: [Int32] = []
    /// Replaces `narrow` from the first number on that does not fit.
    private var wide: [Int64]?

    /// The number of a row; nil if it has none, or there is no such row. `Int64.max` cannot be stored.
    subscript(row: UInt32) -> Int64? {
        get {
            let row = Int(row)
            if let wide { return row < wide.count && wide[row] != .max ? wide[row] : nil }
            return row < narrow.count && narrow[row] != .max ? Int64(narrow[row]) : nil
        }
        set { set(newValue ?? .max, at: Int(row)) }
    }

    /// The number as a sort compares it: rows without one come last.
    func key(_ row: UInt32) -> Int64 {
        if wide != nil { return wide![Int(row)] }
        let number = narrow[Int(row)]
        return number == .max ? .max : Int64(number)
    }

    private mutating func set(_ number: Int64, at row: Int) {
        let short = number == .max ? Int32.max : Int32(exactly: number)
        if wide == nil, let short, short != .max || number == .max {
            while narrow.count <= row { narrow.append(.max) }
            narrow[row] = short
            return
        }
        if wide == nil {
            wide = narrow.map { $0 == .max ? .max : Int64($0) }
            narrow = []
        }
        while wide!.count <= row { wide!.append(.max) }
        wide![row] = number
    }
}
