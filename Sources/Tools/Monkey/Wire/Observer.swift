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
        return try await document([Head].self, "LOG.HEAD").map(\.position)
    }

    /// How often an outlet may still be listed after it was removed.
    private static let patience = 10

    /// Removes the outlets of a city.
    /// Lists do not show those that are hidden, so they are named.
    func removeOutlets(of city: String, hidden: [String]) async throws {
        struct Page: Decodable {
            struct Outlet: Decodable {
                var id: String
            }
            var items: [Outlet]
        }
        var pause = PatientPause()
        var hidden = hidden
        var removed: Set<String> = []
        var again = 0
        while true {
            let listed = try await document(Page.self, "OUTLETS", "CITY", city, "LIMIT", "100").items
            let outlets = listed.map(\.id) + hidden
            guard !outlets.isEmpty else { return }
            if !removed.isDisjoint(with: listed.map(\.id)) {
                again += 1
                guard again <= Observer.patience, await pause.next() else {
                    throw UnexpectedReply(command: "OUTLETS", reply: "still shows outlets that were removed")
                }
            }
            removed.formUnion(outlets)
            let client = try await connected()
            let removals = outlets.map { outlet in
                let removal = Question()
                client.send(to: removal, tag: 0) { $0.write(["OUTLET.REMOVE", outlet]) }
                return removal
            }
            client.flush()
            var refusal: Reply?
            for removal in removals {
                let reply = try await client.answer(to: removal)
                if case .error(let code, _) = reply, code != "NOTFOUND" { refusal = reply }
            }
            guard let refusal else {
                hidden = []
                continue
            }
            guard await pause.next() else {
                throw UnexpectedReply(command: "OUTLET.REMOVE", reply: refusal.summary)
            }
        }
    }

    /// The document that a command is answered with, once the server can answer it.
    private func document<Document: Decodable>(_ type: Document.Type, _ words: String...) async throws -> Document {
        var pause = PatientPause()
        var reply = try await connected().ask(words)
        while case .error(let code, _) = reply, Verdict(inability: code) != nil, await pause.next() {
            reply = try await connected().ask(words)
        }
        guard let text = reply.string, let document = try? JSONDecoder().decode(type, from: Data(text.utf8)) else {
            throw UnexpectedReply(command: words[0], reply: reply.summary)
        }
        return document
    }

    func close() { client?.close() }
}
