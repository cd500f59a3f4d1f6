internal import Domain

/// The names of many listings. Each different name is folded and compared once, because menus say the same thing
/// often.
struct LoadedNames {
    private var ids: [Text: Int] = [:]
    private var folded: [Text] = []
    /// The id of each row's name.
    private var rows: [(row: UInt32, name: Int)] = []

    /// Adds the name of a row, and folds it.
    mutating func fold(_ name: Text, at row: UInt32, _ analyser: TextAnalyser) -> Text {
        let id: Int
        if let known = ids[name] {
            id = known
        } else {
            id = folded.count
            ids[name] = id
            folded.append(analyser.fold(name))
        }
        rows.append((row, id))
        return folded[id]
    }

    /// For each row, how many different folded names come before its own.
    var ranks: NumberColumn {
        var ranks = [Int64](repeating: 0, count: folded.count)
        var rank: Int64 = -1
        var last: Text?
        for id in folded.indices.sorted(by: { folded[$0] < folded[$1] }) {
            if folded[id] != last { rank += 1 }
            last = folded[id]
            ranks[id] = rank
        }
        var column = NumberColumn()
        for (row, name) in rows { column[row] = ranks[name] }
        return column
    }
}
