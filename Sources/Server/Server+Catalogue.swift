internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import JSONText

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
        do throws(Failure) {
            catalogue = try json.withUnsafeBufferPointer { bytes throws(Failure) in
                try DocumentInput.decode(CatalogueInput.self, from: UnsafeRawBufferPointer(bytes))
            }
        } catch {
            throw CatalogueError(description: error.message)
        }
        for entry in catalogue.outlets {
            let id = entry.id
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

private struct CatalogueInput: InputObject {
    static let fields: [StaticString] = ["outlets"]

    let outlets: [Entry]

    init(_ fields: InputFields) throws(InputError) {
        outlets = try fields.required("outlets")
    }

    struct Entry: InputObject {
        static let fields: [StaticString] = ["id", "outlet", "menu"]

        let id: Identifier
        let outlet: OutletInput
        let menu: MenuInput

        init(_ fields: InputFields) throws(InputError) {
            id = try fields.required("id")
            outlet = try fields.required("outlet")
            menu = try fields.required("menu")
        }
    }
}
