internal import EventLoop
internal import Foundation
internal import LineClient
internal import LineProtocol
internal import LoadOracle

/// Pauses between attempts while a server cannot answer: its database may be starting again.
@LoopActor
struct PatientPause {
    private static let milliseconds: UInt64 = 200
    /// The most pauses.
    private static let limit = 150

    private var count = 0

    nonisolated init() {}

    /// Lets some time pass. Returns false if enough has.
    mutating func next() async -> Bool {
        guard count < PatientPause.limit else { return false }
        count += 1
        await LoopTimer.pause(milliseconds: PatientPause.milliseconds)
        return true
    }
}

/// A connection of its own for questions about the server itself. It reconnects when the connection breaks.
@LoopActor
final class Observer {
    private let address: @LoopActor () -> ServerEndpoint
    private var client: Client?

    init(address: @escaping @LoopActor () -> ServerEndpoint) {
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
        var pause = PatientPause()
        var reply = try await connected().ask(["LOG.HEAD"])
        while case .error(let code, _) = reply, Verdict(inability: code) != nil, await pause.next() {
            reply = try await connected().ask(["LOG.HEAD"])
        }
        guard let text = reply.string else { throw UnexpectedReply(command: "LOG.HEAD", reply: reply.summary) }
        do {
            return try JSONDecoder().decode([Head].self, from: Data(text.utf8)).map(\.position)
        } catch {
            throw UnexpectedReply(command: "LOG.HEAD", reply: text)
        }
    }

    func close() { client?.close() }
}
