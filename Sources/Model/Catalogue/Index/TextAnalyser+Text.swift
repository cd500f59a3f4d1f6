internal import Domain

// Terms and folded texts are looked up and sorted by their bytes.
extension TextAnalyser {
    func fold(_ text: Text) -> Text { Text(fold(text.string)) }

    func forEachTerm(of text: Text, _ body: (Text) -> Void) { forEachTerm(of: text.string) { body(Text($0)) } }
}
