import Catalogue
import Testing

@Suite struct TextAnalyserTests {
    private let analyser = TextAnalyser()

    @Test(arguments: [
        ("", []), (" - ! 🍕", []), ("Spicy  Chicken Roll", ["spicy", "chicken", "roll"]),
        ("well-done a_b 3.5", ["well", "done", "a", "b", "3", "5"]), ("7UP", ["7up"]),
        ("Domino's", ["domino", "s", "dominos"]), ("Domino’s", ["domino", "s", "dominos"]),
        ("l'été", ["l", "ete", "lete"]), ("Rock'n'Roll", ["rock", "n", "roll", "rocknroll"]),
        ("'quoted' James' a''b", ["quoted", "james", "a", "b"]), ("Kāneʻohe", ["kane", "ohe", "kaneohe"]),
        ("कोत्तु रोटी", ["कोत्तु", "रोटी"]), ("宫保鸡丁", ["宫", "宫保", "保", "保鸡", "鸡", "鸡丁", "丁"]),
        ("Tシャツ", ["t", "シ", "シャ", "ャ", "ャツ", "ツ"]), ("ラー・麺", ["ラ", "ラー", "ー", "麺"]), ("น้ำ", ["น", "น้", "้ํ", "ํา", "า"]),
        ("김치찌개", ["김치찌개"]), ("é\u{20DD}", ["e"]), ("\u{0DCA} \u{0301}", []),
    ])
    func `a text is found by`(_ text: String, _ terms: [String]) {
        #expect(analyser.terms(of: text) == terms)
    }

    @Test(arguments: [
        ("", []), ("?!", []), ("Domino's pizza", ["dominos", "pizza"]), ("l'été", ["lete"]), ("鸡", ["鸡"]),
        ("鸡丁", ["鸡丁"]), ("宫保鸡丁 大", ["宫保", "保鸡", "鸡丁", "大"]), ("７ＵＰ 喜", ["7up", "喜"]),
    ])
    func `a query asks for`(_ query: String, _ terms: [String]) throws {
        #expect(try analyser.queryTerms(of: query) == terms)
    }

    @Test(arguments: [
        ("Jalapeño", "jalapeno"), ("jalapeno", "JALAPEÑO"), ("Domino's", "dominos"), ("Domino’s", "domino"),
        ("Dominos", "domino's"), ("Domino's", "domino s"), ("l'été", "ete"), ("SMØRREBRØD", "smorrebrod"),
        ("Crème brûlée", "creme brul"), ("ＡＢＣ", "abc"), ("宫保鸡丁", "宫保"), ("宫保鸡丁", "鸡丁"), ("宫保鸡丁", "鸡"),
        ("宫保鸡丁", "保鸡丁"), ("කොත්තු රොටි", "කොත්තු"), ("தோசை", "தோசை"), ("पनीर टिक्का", "टिक्का पनीर"),
        ("ก๋วยเตี๋ยวเรือ", "ก๋วยเตี๋ย"), ("น้ำตกหมู", "น้ำ"), ("ไก่ทอด", "ทอด"), ("STRASSE", "straße"), ("İçli köfte", "icli"),
        ("Phở bò", "pho bo"), ("김치찌개", "김치"), ("ﾊﾞﾅﾅ", "バナナ"),
    ])
    func `a text is found`(_ text: String, _ query: String) throws {
        #expect(try analyser.finds(text, query))
    }

    @Test(arguments: [
        ("Chicken", "chickens"), ("Chicken Roll", "chick roll"), ("宫保鸡丁", "鸡保"), ("パン", "バン"), ("කොත්තු", "කාත්තු"),
    ])
    func `a text is not found`(_ text: String, _ query: String) throws {
        #expect(try !analyser.finds(text, query))
    }

    @Test func `a long term is cut between characters, in texts as in queries`() throws {
        let word = String(repeating: "é", count: 40) + String(repeating: "ක", count: 40)
        #expect(analyser.terms(of: word) == [String(repeating: "e", count: 40) + String(repeating: "ක", count: 8)])
        #expect(try analyser.queryTerms(of: word) == analyser.terms(of: word))
        let joined = (0..<100).map { _ in "ab" }.joined(separator: "'")
        #expect(try analyser.queryTerms(of: joined) == [String(repeating: "ab", count: 32)])
        #expect(try analyser.finds(joined, joined))
    }

    @Test func `a query with more terms than allowed is refused`() throws {
        let limit = TextAnalyser.maximumQueryTerms
        #expect(try analyser.queryTerms(of: String(repeating: "a ", count: limit)).count == limit)
        #expect(throws: TooManyTerms.self) { try analyser.queryTerms(of: String(repeating: "a ", count: limit + 1)) }
        #expect(try analyser.queryTerms(of: String(repeating: "鸡", count: limit + 1)).count == limit)
        #expect(throws: TooManyTerms.self) { try analyser.queryTerms(of: String(repeating: "鸡", count: limit + 2)) }
    }

    @Test func `the body may use the analyser`() {
        var terms: [String] = []
        analyser.forEachTerm(of: "Crème Brûlée") { terms += [$0, analyser.fold("\($0) ÉTÉ")] }
        #expect(terms == ["creme", "creme ete", "brulee", "brulee ete"])
    }
}
