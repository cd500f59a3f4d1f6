import Fleet
import SeededRandom
import Testing

@Suite struct WishTests {
    @Test func `Without servers, nobody is wished for`() {
        #expect(Wish(servers: [], partitionCount: 4)[0] == nil)
    }
}
