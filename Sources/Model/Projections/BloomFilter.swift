/// Hashes that may be in a set: a no is certain, and one in ten thousand is wrongly said to be there.
///
/// A scalable Bloom filter: when a part is full, the next one has room for as many as all before it, at 32 bits each. So
/// the errors of its parts, one in 170,000 each, stay few together.
struct BloomFilter: Sendable {
    private static let bitsOfEach = 32
    private static let probes: UInt64 = 8
    private static let firstRoom = 1 << 12

    private struct Part: Sendable {
        var words: [UInt64]
        var room: Int

        init(room: Int) {
            self.room = room
            words = [UInt64](repeating: 0, count: room * bitsOfEach / UInt64.bitWidth)
        }

        /// The place of a bit, spread evenly over any number of words.
        @inline(__always)
        private func place(_ hash: UInt64) -> (word: Int, bit: UInt64) {
            let (word, rest) = UInt64(words.count).multipliedFullWidth(by: hash)
            return (Int(word), 1 << (rest >> 58))
        }

        mutating func insert(_ hash: UInt64, _ step: UInt64) {
            room -= 1
            for probe in 0..<probes {
                let (word, bit) = place(hash &+ probe &* step)
                words[word] |= bit
            }
        }

        func contains(_ hash: UInt64, _ step: UInt64) -> Bool {
            for probe in 0..<probes {
                let (word, bit) = place(hash &+ probe &* step)
                if words[word] & bit == 0 { return false }
            }
            return true
        }
    }

    private var parts: [Part] = []
    private var totalRoom = 0

    /// How far one probe is from the next: another hash of the same.
    private static func step(_ hash: UInt64) -> UInt64 {
        let (high, low) = (hash ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return (high ^ low) | 1
    }

    /// Adds a hash, whose bits have to be spread evenly.
    mutating func insert(_ hash: UInt64) {
        if parts.last?.room ?? 0 == 0 {
            let room = max(BloomFilter.firstRoom, totalRoom)
            parts.append(Part(room: room))
            totalRoom += room
        }
        parts[parts.count - 1].insert(hash, BloomFilter.step(hash))
    }

    /// Whether a hash may have been added.
    func contains(_ hash: UInt64) -> Bool {
        let step = BloomFilter.step(hash)
        return parts.contains { $0.contains(hash, step) }
    }
}
