internal import Domain

/// The names of many listings, in rows that follow one another from 0.
struct LoadedNames {
    /// The most different names that are remembered with what they are folded to: menus say the same thing often.
    private static let maximumKnown = 10_000

    private var known: [Text: Text] = [:]
    /// The folded name of each row.
    private var folded: [Text] = []

    /// Adds the name of the next row, and folds it.
    mutating func fold(_ name: Text, _ analyser: TextAnalyser) -> Text {
        let result: Text
        if let known = known[name] {
            result = known
        } else {
            result = analyser.fold(name)
            if known.count < Self.maximumKnown { known[name] = result }
        }
        folded.append(result)
        return result
    }

    /// For each row, how many different folded names come before its own.
    var ranks: NumberColumn {
        var ranks = [Int64](repeating: 0, count: folded.count)
        var rank: Int64 = 0
        let places = folded.sortedPlaces()
        for (last, row) in zip(places, places.dropFirst()) {
            if folded[Int(row)] != folded[Int(last)] { rank += 1 }
            ranks[Int(row)] = rank
        }
        var column = NumberColumn()
        for (row, rank) in ranks.enumerated() { column[UInt32(row)] = rank }
        return column
    }
}
