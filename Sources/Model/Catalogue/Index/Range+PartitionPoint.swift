extension Range<Int> {
    /// The first number for which the predicate is false; it must be true for all numbers before. The upper bound if
    /// there is none.
    func partitionPoint(_ isBefore: (Int) -> Bool) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
