import Testing

@testable import Catalogue

@Suite struct BitmapTests {
    @Test func beginsEmpty() { #expect(Bitmap().count == 0) }
}
