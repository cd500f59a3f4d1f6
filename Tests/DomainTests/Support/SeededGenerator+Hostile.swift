import Domain
import SeededRandom

extension SeededGenerator {
    /// A whole number, often one at a limit of the domain or the machine.
    mutating func hostileInt() -> Int {
        pick([.min, -1, 0, 1, 2, 98, 99, 100, 1_000_000, 1_000_001, .max - 1, .max])
    }

    mutating func hostileAmount() -> Amount {
        Amount(minorUnits: pick([.min, -1, 0, 1, 500, Amount.maximum.minorUnits, Amount.maximum.minorUnits + 1, .max]))
    }
}
