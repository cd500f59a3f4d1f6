internal import Application
package import Domain
package import EventLog
package import EventLoop
internal import TextFormats
package import Users

/// What admins see and change beside the log: users and relays.
@LoopActor
package protocol AdministrationStore: AnyObject {
    /// Every user, by name.
    func users() async throws(AdministrationFailure) -> [ListedUser]

    /// How far each relay is, by name and partition.
    func relays() async throws(AdministrationFailure) -> [RelayPlace]

    /// Does something to a user, and records it in the log.
    func perform(_ action: UserAction, on name: Identifier, for metadata: EventMetadata)
        async throws(AdministrationFailure)
}

/// Has users and relays listed, and users changed, where an admin asks for it: one after the other.
@LoopActor
final class Administration {
    private let queue = WorkQueue(WorkQueue.Limits(atOnce: 1, atOnceOfCaller: 1, waiting: 100, waitingOfCaller: 50))
    private let store: (any AdministrationStore)?
    private let logger: Logger

    init(_ store: (any AdministrationStore)?, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Every user, as JSON.
    func users(for caller: Caller) throws(Failure) -> Response {
        try answering(caller) { store throws(AdministrationFailure) in
            let users = try await store.users()
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("users")
            writer.beginArray()
            for user in users { Administration.write(user, to: &writer) }
            writer.endArray()
            writer.endObject()
            return writer.bytes
        }
    }

    /// How far each relay is, as JSON.
    ///
    /// - Parameter heads: the position at which each partition ends.
    func relays(heads: @escaping @LoopActor () -> [Int64], for caller: Caller) throws(Failure) -> Response {
        try answering(caller) { store throws(AdministrationFailure) in
            let (relays, heads) = (try await store.relays(), heads())
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("relays")
            writer.beginArray()
            for relay in relays {
                let head = heads.indices.contains(relay.partition) ? heads[relay.partition] : relay.position
                writer.beginObject()
                writer.field("name", relay.name.rawValue)
                writer.field("partition", relay.partition)
                writer.field("position", relay.position)
                writer.field("events", max(head - relay.position, 0))
                writer.field("heldBack", relay.heldBack)
                writer.field("setAside", relay.setAside)
                writer.field("failure", relay.failure?.reason)
                writer.field("failedAt", relay.failure?.at.rfc3339)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
            return writer.bytes
        }
    }

    /// Does something to a user. Answers what it is then, or its new token.
    ///
    /// - Parameters:
    ///   - asker: who wants it, for the operator.
    ///   - metadata: of the event that says so.
    func perform(
        _ action: UserAction, on name: Identifier, for asker: String, _ metadata: EventMetadata, _ caller: Caller
    ) throws(Failure) -> Response {
        try answering(caller) { [logger] store throws(AdministrationFailure) in
            try await store.perform(action, on: name, for: metadata)
            logger.info("\(asker): user '\(name)': \(action.word)")
            var writer = JSONWriter()
            switch action {
            case .add, .confine, .enable:
                guard let user = try await store.users().first(where: { $0.user.name == name }) else {
                    throw .noUser("user '\(name)' was removed meanwhile")
                }
                Administration.write(user, to: &writer)
            case .addToken(let token):
                writer.beginObject()
                writer.field("name", name.rawValue)
                writer.field("token", token.text)
                writer.endObject()
            case .remove:
                writer.beginObject()
                writer.field("name", name.rawValue)
                writer.field("removed", true)
                writer.endObject()
            }
            return writer.bytes
        }
    }

    private func answering(
        _ caller: Caller,
        _ body: @escaping @LoopActor (any AdministrationStore) async throws(AdministrationFailure) -> [UInt8]
    ) throws(Failure) -> Response {
        guard let store else { throw .unavailable("this server knows nothing beside its log") }
        // What the connection asks next shows what was done.
        let promise = Promise(about: .order, isHolding: true)
        try queue.add(for: caller) {
            do throws(AdministrationFailure) {
                promise.keep(.document(try await body(store)))
            } catch {
                promise.fail(Failure(error))
            }
        }
        return .promise(promise)
    }

    /// Nothing that one could log in with: a token goes by the beginning of its digest.
    private static func write(_ listed: ListedUser, to writer: inout JSONWriter) {
        let user = listed.user
        writer.beginObject()
        writer.field("name", user.name.rawValue)
        writer.field("role", user.role.rawValue)
        writer.field("only", user.grants.lazy.map(\.rawValue))
        writer.field("enabled", user.isEnabled)
        writer.field("password", user.password != nil)
        writer.field("tokens", user.tokens.lazy.map { Token.name(of: $0) })
        writer.field("addedAt", listed.addedAt.rfc3339)
        writer.endObject()
    }
}

extension UserAction {
    /// What was done, for the operator.
    fileprivate var word: String {
        switch self {
        case .add: "added"
        case .confine: "confined"
        case .enable(let isEnabled): isEnabled ? "enabled" : "disabled"
        case .addToken: "token added"
        case .remove: "removed"
        }
    }
}

extension Failure {
    fileprivate init(_ failure: AdministrationFailure) {
        switch failure {
        case .noUser(let reason): self.init(.notFound, reason)
        case .refused(let reason): self.init(.invalid, reason)
        case .unavailable(let reason): self.init(.unavailable, reason)
        case .outcomeUnknown(let reason): self.init(.unknown, reason)
        }
    }
}
