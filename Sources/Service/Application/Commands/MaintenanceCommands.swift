internal import Domain
internal import EventLog
internal import Projections
internal import TextFormats
internal import Users

/// What admins do to what lies beside the log: stored rows and customers' keys.
enum MaintenanceCommands {
    /// The most customers of one `CUSTOMER.FORGET`.
    static let maximumCustomers = 1_000

    static let all: [Command] = [
        Command(
            "CUSTOMER.FORGET", .server, role: .admin, effect: .maintenance,
            answers: Forgetting.schema,
            "Destroys the keys of customers, so that nobody can read their texts any more; returns what it did."
        ) { parameters in
            let customers = parameters.repeated(
                "customer", accepting: "at most \(maximumCustomers) ids of 1–64 bytes of \(Identifier.characters)")
            return { service, call throws(Failure) in
                let words = call[customers]
                guard words.count <= maximumCustomers else {
                    throw Failure(.limit, "at most \(maximumCustomers) customers are forgotten at once")
                }
                var ids: Set<Identifier> = []
                for word in words { ids.insert(try ArgumentType<Identifier>.customer.read(word, "customer")) }
                return try service.forget(
                    ids, try call.origin, call, isOwn: !call.rights.contains(Rights(of: .admin)))
            }
        },
        Command(
            "PROJECTION.REBUILD", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.rebuild,
            "Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is."
        ) { parameters in
            let projection = parameters.required("projection", .projection)
            return { service, call throws(Failure) in
                try service.checkRoom()
                return .answer(try service.rebuild(try call[projection], call))
            }
        },
        Command(
            "RELAY.LIST", .server, role: .admin,
            answers: AdministrationDocuments.relays,
            "Returns how far each relay is in each partition, and what last failed."
        ) { _ in
            { service, call throws(Failure) in try service.relays(for: call.caller) }
        },
    ]
}

extension ArgumentType<RegisteredProjection> {
    /// The name of a projection.
    fileprivate static let projection = ArgumentType(
        kind: .string, accepting: "one of \(RegisteredProjection.names)"
    ) { argument, field throws(Failure) in
        guard let projection = argument.string.flatMap(RegisteredProjection.init(name:)) else {
            throw .invalid(field, "must be one of \(RegisteredProjection.names)")
        }
        return projection
    }
}
