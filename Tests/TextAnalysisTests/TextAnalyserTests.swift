import Testing
import TextAnalysis

@Suite struct TextAnalyserTests {
    @Test func isMade() { _ = TextAnalyser() }
}
