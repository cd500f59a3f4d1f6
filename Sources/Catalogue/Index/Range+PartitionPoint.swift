extension Range<Int> {
    /// The first number that the predicate is false for, which must be true for all before it; the upper bound where
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
