internal import Domain
internal import TextFormats

extension Service {
    /// A document, null where there is none, or its changes since a client was given it.
    func response(_ document: [UInt8]?, since: Text?) -> Response {
        guard let since else { return .answer(Answer(document)) }
        return change(to: document ?? ChangeDocument.null, content: nil, since: since)
    }
}
