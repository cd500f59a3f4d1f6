internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import Foundation

extension Server {
    /// Why a catalogue could not be loaded.
    public struct CatalogueError: Error, CustomStringConvertible {
        /// What went wrong.
        public let description: String
    }

    /// Whether nothing has happened yet.
    public var isLogEmpty: Bool { engine.partitions.allSatisfy { $0.position == 0 } }

    /// Registers outlets with their menus and opens them, by the same commands that a client would send.
    ///
    /// - Parameter json: `{"outlets":[{"id","outlet":{…},"menu":{…}}]}`, with the documents of `OUTLET.PUT` and
    ///   `MENU.PUT`.
    /// - Returns: how many outlets there are in it.
    public func load(catalogue json: [UInt8]) async throws(CatalogueError) -> Int {
        let catalogue: CatalogueInput
        do {
            catalogue = try JSONDecoder().decode(CatalogueInput.self, from: Data(json))
        } catch {
            throw CatalogueError(description: "\(error)")
        }
        for entry in catalogue.outlets {
            guard let id = Identifier(entry.id) else { throw CatalogueError(description: "no id: '\(entry.id)'") }
            let details = entry.outlet.details
            let document = entry.menu.document
            try await submit(StreamName(.outlet, id)) { .outlet(.put(details)) }
            try await submit(StreamName(.menu, id)) { .menu(.put(document)) }
            try await submit(StreamName(.outlet, id)) { .outlet(.open) }
        }
        return catalogue.outlets.count
    }

    private func submit(
        _ stream: StreamName, _ command: @escaping () -> DomainCommand
    ) async throws(CatalogueError) {
        let outcome = await withCheckedContinuation { continuation in
            engine.submit(CommandRequest(stream: stream) { _, _ in command() }) { continuation.resume(returning: $0) }
            engine.startWork()
        }
        guard case .accepted = outcome else { throw CatalogueError(description: "\(stream): \(outcome)") }
    }
}

private struct CatalogueInput: Decodable {
    var outlets: [Entry]

    struct Entry: Decodable {
        var id: String
        var outlet: OutletInput
        var menu: MenuInput
    }
}
