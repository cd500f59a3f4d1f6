/// An array in a text, and where its elements end: known to whoever wrote it. To look for them in a long text takes far
/// longer than to compare its bytes.
package struct KnownArray: Sendable {
    /// Where in the text the array stands, with its brackets.
    package var place: Range<Int>
    /// Where the commas between its elements stand, counted from its beginning.
    package var commas: [Int]

    /// An array of which this is known.
    package init(place: Range<Int>, commas: [Int]) {
        self.place = place
        self.commas = commas
    }
}
