public import Domain
public import EventLog

/// The projection `takings`: what every outlet sold, took back, gave back and was paid, by quarters of an hour.
///
/// A quarter of an hour belongs to one day in every time zone, so the days of an outlet are made of them when somebody
/// asks, by the rules of its zone. What is recorded counts when it is recorded: a day that is over does not change.
///
/// Events after the first do not say which outlet an order is of, so ``ReadModel`` folds them in with what ``Orders``
/// knows.
public struct Takings: Projection {
    public static let name = "takings"
    public static let version = 1
    public static let table = "takings_rows"

    /// The length of a period, in milliseconds.
    static let quarterMilliseconds: Int64 = 900_000

    @inlinable
    public static func follows(_ category: StreamName.Category) -> Bool { category == .order }

    public static func streams(of key: Identifier) -> [StreamName] { [] }

    /// A quarter of an hour with its sums, in few bytes: there are many of them.
    private struct Period: Sendable {
        let quarter: Int64
        var packed: PackedSums
    }

    fileprivate struct Place: Hashable, Sendable {
        var outlet: UInt32
        var quarter: Int64
    }

    /// Empty: what cannot have happened is found by ``Orders``.
    public var quarantine = Quarantine()

    private var outlets = Names()
    private var taxes = Names()
    /// The periods of each outlet, by its number less 1, in their order.
    private var periods: [[Period]] = []
    public private(set) var rowCount = 0
    /// The digests of rows as they were last saved, of all that have changed since; nil for those that are new.
    private var changed: [Place: Digest?] = [:]
    private let notesChanges: Bool

    public init(notesChanges: Bool = false) { self.notesChanges = notesChanges }

    // MARK: Questions

    /// What an outlet took between moments: one sum for each two that follow one another.
    ///
    /// - Parameter moments: in their order. A period belongs to where it begins.
    public func sums(of outlet: Identifier, between moments: [Timestamp]) -> [TakingsSums] {
        var result = [TakingsSums](repeating: TakingsSums(), count: max(0, moments.count - 1))
        guard let number = outlets.find(outlet) else { return result }
        let list = periods[Int(number) - 1]
        for index in result.indices {
            let end = moments[index + 1].millisecondsSinceEpoch
            var next = Takings.place(ofFirst: moments[index].millisecondsSinceEpoch, in: list)
            while next < list.count, Takings.start(ofQuarter: list[next].quarter) < end {
                result[index].add(list[next].packed.sums(taxes))
                next += 1
            }
        }
        return result
    }

    /// When a period begins, in milliseconds since the Unix epoch.
    static func start(ofQuarter quarter: Int64) -> Int64 {
        let (start, overflow) = quarter.multipliedReportingOverflow(by: quarterMilliseconds)
        return overflow ? (quarter < 0 ? .min : .max) : start
    }

    /// The place of the first period that does not begin before a time.
    private static func place(ofFirst time: Int64, in list: [Period]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if start(ofQuarter: list[middle].quarter) < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Folding

    /// Nothing: see ``fold(_:of:)``.
    public mutating func apply(_ event: DecodedEvent) {}

    /// Folds in an event of an order that ``Orders`` has folded.
    mutating func fold(_ event: DecodedEvent, of sale: Orders.Sale) {
        guard case .order(let change) = event.event else { return }
        let moved = TakingsSums(of: change, sale)
        guard !moved.entries.isEmpty else { return }
        let time = event.recordedAt.millisecondsSinceEpoch
        let number = outlets.number(of: sale.outlet)
        if Int(number) > periods.count { periods.append([]) }
        let (outlet, quarter) = (Int(number) - 1, time.dividedDown(by: Takings.quarterMilliseconds))
        let index = Takings.place(ofFirst: Takings.start(ofQuarter: quarter), in: periods[outlet])
        let isThere = index < periods[outlet].count && periods[outlet][index].quarter == quarter
        var sums = isThere ? periods[outlet][index].packed.sums(taxes) : TakingsSums()
        if notesChanges, changed[Place(outlet: number, quarter: quarter)] == nil {
            let before = isThere ? TakingsRow(sale.outlet, number, quarter: quarter, sums).digest : nil
            changed.updateValue(before, forKey: Place(outlet: number, quarter: quarter))
        }
        sums.add(moved)
        let packed = PackedSums(sums, &taxes)
        if isThere {
            periods[outlet][index].packed = packed
        } else {
            periods[outlet].insert(Period(quarter: quarter, packed: packed), at: index)
            rowCount += 1
        }
    }

    #if DEBUG
        public mutating func skip(_ event: DecodedEvent) {}
    #endif

    // MARK: Rows

    public var rows: some Sequence<TakingsRow> {
        periods.indices.lazy.flatMap { outlet in
            periods[outlet].lazy.map { row(UInt32(outlet) + 1, $0) }
        }
    }

    public func row(of key: Identifier) -> TakingsRow? {
        let words = key.rawValue.split(separator: ".", maxSplits: 1)
        guard words.count == 2, let quarter = Int64(words[0]), let number = UInt32(words[1]) else { return nil }
        return period(at: Place(outlet: number, quarter: quarter)).map { row(number, $0) }
    }

    private func period(at place: Place) -> Period? {
        guard place.outlet > 0, place.outlet <= periods.count else { return nil }
        let list = periods[Int(place.outlet) - 1]
        let index = Takings.place(ofFirst: Takings.start(ofQuarter: place.quarter), in: list)
        return index < list.count && list[index].quarter == place.quarter ? list[index] : nil
    }

    private func row(_ number: UInt32, _ period: Period) -> TakingsRow {
        TakingsRow(outlets[number], number, quarter: period.quarter, period.packed.sums(taxes))
    }

    /// Rows that were restored, by the numbers of their outlets: they come in any order.
    private var restored: [UInt32: (outlet: Identifier, periods: [Period])] = [:]

    public mutating func restore(_ stored: StoredRow) throws(UnreadableValue) -> Digest {
        let row = try TakingsRow(stored)
        var found = restored.removeValue(forKey: row.number) ?? (row.outlet, [])
        guard found.outlet == row.outlet else { throw UnreadableValue("another outlet has its number") }
        found.periods.append(Period(quarter: row.quarter, packed: PackedSums(row.sums, &taxes)))
        restored[row.number] = found
        return row.digest
    }

    public mutating func endRestoring() -> Identifier? {
        defer { restored = [:] }
        for (number, found) in restored.sorted(by: { $0.key < $1.key }) {
            // Numbers follow one another, and an outlet has one.
            guard outlets.number(of: found.outlet) == number else {
                return found.periods.first.map {
                    TakingsRow(found.outlet, number, quarter: $0.quarter, TakingsSums()).key
                }
            }
            periods.append(found.periods.sorted { $0.quarter < $1.quarter })
            rowCount += found.periods.count
        }
        return nil
    }

    // MARK: Checkpoints

    /// Periods that have changed. Each row is made when it is asked for.
    public struct Changes: ProjectionChanges {
        fileprivate let rows: [(place: Place, before: Digest?, outlet: Identifier, packed: PackedSums)]
        fileprivate let taxes: Names
        private var index = 0

        fileprivate init(
            _ rows: [(place: Place, before: Digest?, outlet: Identifier, packed: PackedSums)], _ taxes: Names
        ) {
            self.rows = rows
            self.taxes = taxes
        }

        public mutating func next() -> ChangedRow<TakingsRow>? {
            guard index < rows.count else { return nil }
            defer { index += 1 }
            let (place, before, outlet, packed) = rows[index]
            return ChangedRow(
                before: before,
                after: TakingsRow(outlet, place.outlet, quarter: place.quarter, packed.sums(taxes)))
        }
    }

    public mutating func takeChanges() -> Changes {
        defer { changed = [:] }
        return Changes(
            changed.compactMap { place, before in
                period(at: place).map { (place, before, outlets[place.outlet], $0.packed) }
            }, taxes)
    }

    public mutating func putBack(_ taken: Changes) {
        for row in taken.rows { changed.updateValue(row.before, forKey: row.place) }
    }
}

/// Sums in few bytes.
private struct PackedSums: Sendable {
    private var bytes: [UInt8] = []

    /// - Parameter taxes: numbers the taxes.
    init(_ sums: TakingsSums, _ taxes: inout Names) {
        bytes.reserveCapacity(sums.entries.count * 12)
        for (subject, sum) in sums.entries {
            bytes.append(packed: UInt64(subject.place))
            bytes.append(packed: UInt64(subject.tax.map { taxes.number(of: $0) } ?? 0))
            bytes.append(packed: UInt64(subject.rate.map { $0 + 1 } ?? 0))
            bytes.append(packed: UInt64(bitPattern: sum.count))
            bytes.append(packed: UInt64(bitPattern: sum.base))
            bytes.append(packed: UInt64(bitPattern: sum.amount))
        }
    }

    func sums(_ taxes: Names) -> TakingsSums {
        var sums = TakingsSums()
        var index = 0
        func next() -> UInt64 { bytes.packedNumber(at: &index) }
        while index < bytes.count {
            let (place, tax, rate) = (Int(next()), UInt32(next()), Int(next()))
            let subject = TakingsSums.Subject(
                place: place, tax: tax == 0 ? nil : taxes[tax], rate: rate == 0 ? nil : rate - 1)
            guard let subject else { preconditionFailure("a place that was packed") }
            let sum = TakingsSums.Sum(
                count: Int64(bitPattern: next()), base: Int64(bitPattern: next()), amount: Int64(bitPattern: next()))
            sums.add(subject, sum)
        }
        return sums
    }
}

extension Int64 {
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
