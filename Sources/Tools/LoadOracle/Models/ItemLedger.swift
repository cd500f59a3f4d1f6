/// An item in full as a customer has it, whose changes it may ask for.
package struct KeptItem: Sendable {
    package var outlet: Int
    package var item: Int
    package var digest: String
    /// Null if the item was off the menu.
    var document: JSON
}

/// The documents of items by their digests, from every reader. A digest says what a document contains: it stands for
/// one document, and a document has one digest.
struct ItemLedger {
    /// How many documents are compared with those that come later.
    static let keptDocuments = 4_096

    private var documents: [Text: JSON] = [:]
    private var digests: [JSON: Text] = [:]

    /// A document was read under a digest.
    mutating func read(_ document: JSON, _ digest: Text) throws(Violation) {
        if let other = documents[digest], let difference = JSON.difference(other, document) {
            throw Violation(.patch, "the digest \(digest) stands for two documents: \(difference)")
        }
        if let other = digests[document], other != digest {
            throw Violation(.patch, "one document has the digests \(other) and \(digest)")
        }
        if documents.count >= ItemLedger.keptDocuments {
            documents.removeAll()
            digests.removeAll()
        }
        documents[digest] = document
        digests[document] = digest
    }
}
