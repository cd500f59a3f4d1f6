internal import TextFormats
internal import Users

/// The schemas of what is answered beside the log. `Administration`, `Rebuilder` and `Pictures` in `Serving` write
/// these documents, and the lists of connections `LineServer+Lists.swift`.
enum AdministrationDocuments {
    /// A user, without anything that one could log in with.
    static let user = JSONSchema.object([
        .member("name", .identifier), .member("role", .words(Role.ofUsers.map(\.rawValue))),
        .member("only", .list(of: .identifier), "what the user is confined to"), .member("enabled", .boolean),
        .member("password", .boolean, "whether there is one"),
        .member("tokens", .list(of: .string), "the beginnings of their digests"), .member("addedAt", .time),
    ]).named("User")
    static let users = JSONSchema.object([.member("users", .list(of: user))]).named("Users")
    static let newToken = JSONSchema.object([
        .member("name", .identifier), .member("token", .string, "shown this once"),
    ]).named("NewToken")
    static let removedUser = JSONSchema.object([.member("name", .identifier), .member("removed", .boolean)])
        .named("RemovedUser")

    static let relays = JSONSchema.object([
        .member(
            "relays",
            .list(
                of: .object([
                    .member("name", .identifier), .member("partition", .count), .member("position", .count),
                    .member("events", .count, "how many are still to be sent"),
                    .member("heldBack", .count, "how many before these were refused, or wait for one that was"),
                    .member("setAside", .count, "how many before these it has given up"),
                    .member("failure", .string.orNull), .member("failedAt", .time.orNull),
                ]).named("Relay")))
    ]).named("Relays")

    static let rebuild = JSONSchema.object([.member("projection", .string.orNull), .member("state", .string)])
        .named("Rebuild")
    static let picture = JSONSchema.object([.member("path", .string)]).named("Picture")

    static let clients = JSONSchema.object([
        .member("clients", .list(of: .object(others: .string)), "in the words of CLIENT LIST")
    ]).named("Clients")
    static let closedClient = JSONSchema.object([.member("closed", .boolean)]).named("ClosedClient")
    static let slowCommands = JSONSchema.object([
        .member(
            "commands",
            .list(
                of: .object([
                    .member("id", .integer), .member("at", .time), .member("microseconds", .integer),
                    .member("words", .list(of: .string)), .member("address", .string), .member("client", .string),
                ]).named("SlowCommand")))
    ]).named("SlowCommands")
    static let delays = JSONSchema.object([
        .member(
            "events",
            .list(
                of: .object([
                    .member("event", .string), .member("maximum", .integer, "milliseconds"),
                    .member(
                        "samples",
                        .list(
                            of: .object([.member("at", .time), .member("milliseconds", .integer)])
                                .named("DelaySample"))),
                ]).named("Delay")))
    ]).named("Delays")
}
