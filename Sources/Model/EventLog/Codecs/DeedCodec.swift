internal import Domain
internal import TextFormats

enum DeedCodec {
    static func encode(_ event: Deed.Event, to writer: inout JSONWriter) -> String {
        switch event {
        case .customerForgotten: return "customer.forgotten"
        case .userPut(let user):
            writer.field("role", user.role.string)
            writer.field("only", user.grants.lazy.map(\.rawValue))
            writer.field("enabled", user.isEnabled)
            writer.field("change", user.change.string)
            return "user.put"
        case .userRemoved: return "user.removed"
        case .relayPut: return "relay.put"
        case .relayMoved(let partition, let position):
            writer.field("partition", partition)
            writer.field("position", position)
            return "relay.moved"
        case .relaySkipped(let partition, let position, let reason):
            writer.field("partition", partition)
            writer.field("position", position)
            writer.field("reason", reason.string)
            return "relay.skipped"
        }
    }

    static func decode(_ name: EventName, _ reader: inout JSONReader) throws(JSONReadingError) -> Deed.Event? {
        var role: Text?
        var grants: [Identifier]?
        var isEnabled: Bool?
        var change: Text?
        var partition: Int64?
        var position: Int64?
        var reason: Text?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "role": role = try reader.text()
            case "only": grants = try reader.identifiers()
            case "enabled": isEnabled = try reader.bool()
            case "change": change = try reader.text()
            case "partition": partition = try reader.integer()
            case "position": position = try reader.integer()
            case "reason": reason = try reader.text()
            default: _ = try reader.rawValue()
            }
        }
        switch name {
        case "customer.forgotten": return .customerForgotten
        case "user.put":
            guard let role, let grants, let isEnabled, let change else { return nil }
            return .userPut(Deed.User(role: role, grants: grants, isEnabled: isEnabled, change: change))
        case "user.removed": return .userRemoved
        case "relay.put": return .relayPut
        case "relay.moved":
            guard let partition, let position else { return nil }
            return .relayMoved(partition: partition, position: position)
        case "relay.skipped":
            guard let partition, let position, let reason else { return nil }
            return .relaySkipped(partition: partition, position: position, reason: reason)
        default: return nil
        }
    }

    /// The kind of stream that it belongs to.
    static func category(of event: Deed.Event) -> StreamName.Category {
        switch event {
        case .customerForgotten: .customer
        case .userPut, .userRemoved: .user
        case .relayPut, .relayMoved, .relaySkipped: .relay
        }
    }
}

extension DeedCodec {
    static let schemas = [
        EventSchema(
            "customer.forgotten", "The customer's keys are destroyed in every partition; sealed texts cannot be read.",
            []
        ),
        EventSchema(
            "user.put", "The user is like this.",
            [
                .member("role", .string), .member("only", .list(of: .identifier), "what the user is confined to"),
                .member("enabled", .boolean), .member("change", .string, "what of it was changed, such as password"),
            ]),
        EventSchema("user.removed", "The user is gone.", []),
        EventSchema("relay.put", "The relay exists.", []),
        EventSchema(
            "relay.moved", "The relay goes on behind this position of the partition.",
            [.member("partition", .integer), .member("position", .integer)]),
        EventSchema(
            "relay.skipped", "The relay leaves out the event at this position of the partition.",
            [.member("partition", .integer), .member("position", .integer), .member("reason", .string)]),
    ]
}
