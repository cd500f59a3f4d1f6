internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol

/// A connection of its own for questions about the server itself. It is made anew when it breaks.
@LoopActor
final class Observer {
    private let address: @LoopActor () -> ServerAddress
    private var client: Client?

    init(address: @escaping @LoopActor () -> ServerAddress) {
        self.address = address
    }

    func connected() async throws -> Client {
        if let client, client.isOpen { return client }
        let client = try await Client.connect(to: address())
        self.client = client
        return client
    }

    func info() async throws -> ServerInfo { ServerInfo(try await connected().text("INFO")) }

    /// The position of every partition.
    func heads() async throws -> [Int64] {
        struct Head: Decodable {
            var position: Int64
        }
        let text = try await connected().text("LOG.HEAD")
        do {
            return try JSONDecoder().decode([Head].self, from: Data(text.utf8)).map(\.position)
        } catch {
            throw UnexpectedReply(command: "LOG.HEAD", reply: text)
        }
    }

    func close() { client?.close() }
}
