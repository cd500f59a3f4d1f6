/// The numbers of some of the rows: few bytes each, whether many rows in a row have one or hardly any.
///
/// Rows are in pages. A page knows which of its rows have a number, and has these one after the other: in four bytes
/// each if they are all multiples of a unit that leaves them so small.
struct PagedNumbers: RowNumbers {
    private static let pageBits: UInt32 = 8

    private var pages: [UInt32: Page] = [:]

    subscript(row: UInt32) -> Int64? {
        get { pages[row >> Self.pageBits]?[UInt8(truncatingIfNeeded: row)] }
        set {
            let (page, place) = (row >> Self.pageBits, UInt8(truncatingIfNeeded: row))
            if let newValue {
                pages[page, default: Page()].set(newValue, at: place)
            } else if pages[page]?.remove(at: place) == true {
                pages[page] = nil
            }
        }
    }

    private struct Page {
        /// The largest is tried first: whole numbers in millionths, hundredths, anything.
        private static let units: [Int64] = [1_000_000, 10_000, 1]

        /// A bit for each row that has a number.
        private var present: SIMD4<UInt64> = .zero
        /// What a number is divided by.
        private var unit = Page.units[0]
        private var narrow: [Int32] = []
        /// In place of `narrow`, if no unit makes the numbers small enough.
        private var wide: [Int64]?

        private func has(_ place: UInt8) -> Bool { present[Int(place >> 6)] >> UInt64(place & 63) & 1 == 1 }

        /// How many rows before a place have a number.
        private func rank(_ place: UInt8) -> Int {
            let word = Int(place >> 6)
            let before = present[word] & (1 << UInt64(place & 63) - 1)
            return (0..<word).reduce(before.nonzeroBitCount) { $0 + present[$1].nonzeroBitCount }
        }

        subscript(place: UInt8) -> Int64? {
            guard has(place) else { return nil }
            let rank = rank(place)
            return wide.map { $0[rank] } ?? Int64(narrow[rank]) * unit
        }

        mutating func set(_ number: Int64, at place: UInt8) {
            _ = remove(at: place)
            let rank = rank(place)
            present[Int(place >> 6)] |= 1 << UInt64(place & 63)
            if wide != nil {
                wide?.insert(number, at: rank)
            } else if let short = Self.divided(number, by: unit) {
                narrow.insert(short, at: rank)
            } else {
                var numbers = narrow.map { Int64($0) * unit }
                numbers.insert(number, at: rank)
                store(numbers)
            }
        }

        /// Returns whether the page is empty.
        mutating func remove(at place: UInt8) -> Bool {
            if has(place) {
                let rank = rank(place)
                if wide != nil { wide?.remove(at: rank) } else { narrow.remove(at: rank) }
                present[Int(place >> 6)] &= ~(1 << UInt64(place & 63))
            }
            return present == .zero
        }

        private mutating func store(_ numbers: [Int64]) {
            for unit in Self.units {
                let short = numbers.compactMap { Self.divided($0, by: unit) }
                guard short.count == numbers.count else { continue }
                (self.unit, narrow) = (unit, short)
                return
            }
            (narrow, wide) = ([], numbers)
        }

        private static func divided(_ number: Int64, by unit: Int64) -> Int32? {
            number.isMultiple(of: unit) ? Int32(exactly: number / unit) : nil
        }
    }
}
