/// An array in a text, and where its elements end: known to whoever wrote it. To look for them in a long text takes far
/// longer than to compare its bytes.
public struct KnownArray: Sendable {
    /// Where in the text the array stands, with its brackets.
    public var place: Range<Int>
    /// Where the commas between its elements stand, counted from its beginning.
    public var commas: [Int]

    /// An array of which this is known.
    public init(place: Range<Int>, commas: [Int]) {
        self.place = place
        self.commas = commas
    }
}
