/// An array in a text, and where its elements end, as the writer of the text knows. Looking for these ends in a long
/// text takes far longer than comparing its bytes.
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
