import Catalogue
import SeededRandom
import Testing

@Suite struct TermProperties {
    private let analyser = TextAnalyser()

    @Test(arguments: SeededGenerator.seeds)
    func `a term is folded, not empty, not too long, and finds its text`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<100 {
            let text = round % 2 == 0 ? RandomText.ofAnything(&random) : RandomText.ofNames(&random)
            let terms = Set(analyser.terms(of: text))
            for term in terms {
                #expect(!term.isEmpty)
                #expect(term.utf8.count <= TextAnalyser.maximumTermLength)
                #expect(analyser.fold(term).utf8.elementsEqual(term.utf8))
                #expect(try terms.isSuperset(of: analyser.queryTerms(of: term)), "\(scalars(text))")
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a text is found by its words`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<100 {
            let text = round % 2 == 0 ? RandomText.ofAnything(&random) : RandomText.ofNames(&random)
            let terms = Set(analyser.terms(of: text))
            // By scalars: a mark on a space can be folded to a letter, and would be lost with the space.
            let words = text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "-" }.map { String($0) }
            for query in words + [words.shuffled(using: &random).joined(separator: " ")] {
                // More terms than a query may have.
                guard let wanted = try? analyser.queryTerms(of: query) else { continue }
                #expect(terms.isSuperset(of: wanted), "\(scalars(text)) by \(scalars(query))")
            }
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a text is found while its last word is being typed`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = RandomText.ofNames(&random)
            let query = String(text.prefix(random.number(0..<text.count + 1)))
            guard let wanted = try? analyser.queryTerms(of: query), !wanted.isEmpty else { continue }
            #expect(try analyser.finds(text, query), "\(text) by \(query)")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any part of a text without spaces that has a letter finds it`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for text in ["宫保鸡丁盖饭", "鮭のおにぎり", "ラーメン", "ผัดไทยกุ้งสด", "น้ำตกหมู", "ລາບໄກ່", "អាម៉ុកត្រី", "ဝက်သားနီချက်"] {
            let start = random.number(0..<text.count)
            let query = String(text.dropFirst(start).prefix(random.number(1..<text.count - start + 1)))
            guard try !analyser.queryTerms(of: query).isEmpty else { continue }
            #expect(try analyser.finds(text, query), "\(text) by \(query)")
        }
    }

    private func scalars(_ text: some StringProtocol) -> [String] {
        text.unicodeScalars.map { String($0.value, radix: 16) }
    }
}
