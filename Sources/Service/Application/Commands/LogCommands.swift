internal import Domain
internal import EventLog
internal import TextFormats
internal import Users

/// What auditors read, and receipts.
enum LogCommands {
    /// The most events of one `LOG.READ`.
    static let maximumCount: Int64 = 1_000

    static let all: [Command] = [
        Command(
            "LOG.HEAD", .log, role: .auditor, answers: LogDocument.headsSchema,
            "Returns the position and digest of every partition of the log."
        ) { _ in
            { service, call throws(Failure) in
                let partitions = 0..<service.partitioning.count
                return try service.reading(for: call.caller, waitingFor: nil) { log async throws(EventLogError) in
                    .document(LogDocument.bytes(of: try await log.heads(of: partitions)))
                }
            }
        },
        Command(
            "LOG.READ", .log, role: .auditor,
            answers: .oneOf([.list(of: LogDocument.eventSchema), LogDocument.foundSchema]),
            "Returns events of the log, in order, all or those that match filters, or waits until there are some."
        ) { parameters in
            let partition = parameters.option("PARTITION", "partition", .integer.accepting("from 0"), default: 0)
            let from = parameters.option("FROM", "position", .integer(1 ... .max), default: 1)
            let count = parameters.option("COUNT", "count", .integer(1...maximumCount), default: 100)
            let stream = parameters.option("STREAM", "stream", .stream)
            let wait = parameters.option("WAIT", "milliseconds", .integer(0...AwaitedEvent.longest))
            let kinds = parameters.option("KIND", "kinds", .kinds)
            let since = parameters.option("SINCE", "time", .time)
            let until = parameters.option("UNTIL", "time", .time)
            let actor = parameters.option("ACTOR", "name", .text)
            return { service, call throws(Failure) in
                let (after, limit) = (try call[from] - 1, Int(try call[count]))
                let filter = EventFilter(
                    kinds: try call[kinds], since: try call[since], until: try call[until], actor: try call[actor])
                guard let stream = try call[stream] else {
                    let partition = try LogCommands.partition(
                        try call[partition], of: service.partitioning, field: "PARTITION")
                    let event = try call[wait].map { milliseconds in
                        AwaitedEvent(
                            partition: partition, position: after + 1, milliseconds: milliseconds)
                    }
                    return try service.reading(
                        for: call.caller, waitingFor: event
                    ) { log async throws(EventLogError) in
                        guard filter.isEmpty else {
                            let found = try await log.find(filter, after: after, limit: limit, numbered: \.position) {
                                after, limit async throws(EventLogError) in
                                try await log.read(partition: partition, after: after, limit: limit)
                            }
                            return .document(LogDocument.bytes(of: found))
                        }
                        let events = try await log.read(partition: partition, after: after, limit: limit)
                        return .documents(events.map(LogDocument.bytes))
                    }
                }
                guard try call[partition.given] == nil else { throw .invalid("PARTITION", "follows from the stream") }
                guard try call[wait] == nil else { throw .invalid("WAIT", "is for a partition, not for a stream") }
                let partition = service.partitioning.partition(of: stream)
                return try service.reading(for: call.caller, waitingFor: nil) { log async throws(EventLogError) in
                    guard filter.isEmpty else {
                        let found = try await log.find(filter, after: after, limit: limit, numbered: \.version) {
                            after, limit async throws(EventLogError) in
                            try await log.read(
                                stream: stream, partition: partition, afterVersion: after, limit: limit)
                        }
                        return .document(LogDocument.bytes(of: found))
                    }
                    let events = try await log.read(
                        stream: stream, partition: partition, afterVersion: after, limit: limit)
                    return .documents(events.map(LogDocument.bytes))
                }
            }
        },
        Command(
            "LOG.PROVE", .log, role: .customer,
            answers: Receipt.schema, refusing: [.notFound],
            "Returns a receipt that proves, without the log, that an event is in it."
        ) { parameters in
            let stream = parameters.required("stream", .provenStream)
            let version = parameters.required("version", .integer(1 ... .max))
            let head = parameters.option("HEAD", "position", .integer(1 ... .max))
            let form = parameters.option("FORM", "form", .receiptForm)
            return { service, call throws(Failure) in
                let (stream, form) = (try call[stream], try call[form])
                // What is in an order is for whoever may see the order; everything else, and what takes megabytes, is for
                // auditors.
                guard stream.category == .order && form != .links || call.rights.mayActAs(.auditor) else {
                    throw .noPermissionForKey
                }
                return service.receipt(
                    for: stream, version: try call[version], head: try call[head], form: form,
                    to: call.caller, within: call.confinement)
            }
        },
        Command(
            "LOG.SIGNED", .log, role: .anybody, answers: LogDocument.signedHeadSchema.orNull,
            "Returns the newest signed head of a partition of the log, with what witnesses have signed of it."
        ) { parameters in
            let partition = parameters.required("partition", .integer.accepting("from 0"))
            return { service, call throws(Failure) in
                let partition = try LogCommands.partition(try call[partition], of: service.partitioning)
                return try service.reading(for: call.caller, waitingFor: nil) { log async throws(EventLogError) in
                    try await log.signedHead(of: partition).map { .document(LogDocument.bytes(of: $0, partition)) }
                        ?? .null
                }
            }
        },
        Command(
            "LOG.TREE", .log, role: .auditor,
            answers: TreeGrowth.schema, refusing: [.notFound],
            "Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it was."
        ) { parameters in
            let partition = parameters.required("partition", .integer.accepting("from 0"))
            let since = parameters.option("SINCE", "size", .integer(0 ... .max))
            let head = parameters.option("HEAD", "position", .integer(1 ... .max))
            return { service, call throws(Failure) in
                let partition = try LogCommands.partition(try call[partition], of: service.partitioning)
                return service.growth(
                    of: partition, head: try call[head], since: try call[since], to: call.caller)
            }
        },
    ]

    /// A partition that the log has.
    private static func partition(
        _ number: Int64, of partitioning: Partitioning, field: String = "partition"
    ) throws(Failure) -> Int {
        let last = partitioning.count - 1
        guard (0...Int64(last)).contains(number) else {
            throw .invalid(field, last == 0 ? "must be 0" : "must be from 0 to \(last)")
        }
        return Int(number)
    }
}

extension ArgumentType<EventFilter.Kinds> {
    /// Kinds of events with commas between them.
    fileprivate static let kinds = ArgumentType(kind: .string, accepting: EventFilter.Kinds.form) {
        argument, field throws(Failure) in
        guard let kinds = argument.string.flatMap(EventFilter.Kinds.init) else {
            throw .invalid(field, "must be \(EventFilter.Kinds.form)")
        }
        return kinds
    }
}

extension ArgumentType<Receipt.Form> {
    /// What leads from an event's batch to a head.
    fileprivate static let receiptForm = oneOf(Receipt.Form.allCases)
}
