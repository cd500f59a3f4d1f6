import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A parsed document, for tests of what is written.
final class XMLTree {
    let name: String
    let attributes: [String: String]
    private(set) var children: [XMLTree] = []
    /// The text in it, including that of its children.
    private(set) var text = ""

    fileprivate init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    /// The document in a text. Fails the test if the text is not a document.
    static func parse(_ document: String) throws -> XMLTree {
        let parser = XMLParser(data: Data(document.utf8))
        let builder = Builder()
        parser.delegate = builder
        let isParsed = parser.parse()
        try #require(isParsed, "line \(parser.lineNumber): \(parser.parserError.map { "\($0)" } ?? "no XML")")
        return try #require(builder.root)
    }

    /// It and everything in it.
    var all: [XMLTree] { [self] + children.flatMap(\.all) }

    /// Everything in it with that name.
    func all(_ name: String) -> [XMLTree] { all.filter { $0.name == name } }

    private final class Builder: NSObject, XMLParserDelegate {
        var root: XMLTree?
        private var open: [XMLTree] = []

        func parser(
            _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            let element = XMLTree(name: elementName, attributes: attributes)
            if let parent = open.last { parent.children.append(element) } else { root = element }
            open.append(element)
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) {
            for element in open { element.text += string }
        }

        func parser(
            _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
        ) {
            open.removeLast()
        }
    }
}
