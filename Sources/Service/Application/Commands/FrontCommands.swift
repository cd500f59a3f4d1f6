internal import TextFormats
internal import Users

/// What a front tells admins of its clients.
package enum FrontList: Sendable {
    case clients, slowCommands, delays
}

/// What admins ask of the front that clients of the line protocol have, from another one. It has these commands itself,
/// in the words of Redis; here they answer documents.
enum FrontCommands {
    static let all: [Command] = [
        list(
            "CLIENT LIST", .clients, AdministrationDocuments.clients, "Returns every connection of the line protocol."),
        list(
            "SLOWLOG GET", .slowCommands, AdministrationDocuments.slowCommands,
            "Returns the latest commands that took long to execute."),
        list(
            "LATENCY HISTORY", .delays, AdministrationDocuments.delays,
            "Returns what held up the server, when, and for how many milliseconds."),
        Command(
            "CLIENT KILL", .server, role: .admin, answers: AdministrationDocuments.closedClient.orNull,
            "Closes a connection of the line protocol."
        ) { parameters in
            let id = parameters.required("id", .count)
            return { service, call throws(Failure) in
                guard service.closeClient(try call[id]) else { return .answer(.null) }
                return .answer(.document(Array(#"{"closed":true}"#.utf8)))
            }
        },
    ]

    private static func list(_ name: String, _ list: FrontList, _ schema: JSONSchema, _ summary: String) -> Command {
        Command(name, .server, role: .admin, answers: schema.orNull, summary) { _ in
            { service, _ in .answer(Answer(service.list(list))) }
        }
    }
}
