package import Domain
package import EventLog
package import TextFormats
package import Users

/// A call of a command: its arguments by the keys that the command declared.
///
/// It is a view, valid while its arguments are; what outlives the call is read from it before.
package struct Call: ~Copyable {
    /// The most options that a command may have.
    static let maximumOptions = SIMD16<UInt16>.scalarCount

    /// The arguments, the command's name first.
    package let arguments: Arguments
    private let declaration: CommandDeclaration
    /// What its caller is confined to; nil where it is not. Before the command runs, the ids in the call have been
    /// found to be within.
    package let confinement: Confinement?
    /// What its caller may do.
    package let rights: Rights
    /// Whose call it is.
    package let caller: Caller
    /// The connection that it came by; 0 for the server itself.
    package let client: Int64
    /// The proven identity of its caller; nil where no proof is required.
    package let actor: Text?
    /// Whether it only asks what became of the same call before: it decides nothing.
    package let isRecall: Bool
    /// Of each option, by number, the index of its value among the arguments; 0 where the call has none.
    private var options = SIMD16<UInt16>.zero

    /// Finds the options among the arguments.
    ///
    /// - Parameters:
    ///   - confinement: what the caller is confined to; nil where it is not.
    ///   - rights: what the caller may do.
    ///   - caller: whose call it is.
    ///   - client: the connection that it came by; 0 for the server itself.
    ///   - actor: the proven identity of its caller; nil where no proof is required.
    ///   - isRecall: whether it only asks what became of the same call before.
    /// - Throws: the error of a call with too few or too many arguments, with words that are no options, or about
    ///   something that the caller may not use.
    package init(
        _ declaration: CommandDeclaration, _ arguments: Arguments, within confinement: Confinement? = nil,
        with rights: Rights = .all, of caller: Caller = .server, by client: Int64 = 0, actor: Text? = nil,
        isRecall: Bool = false
    ) throws(Failure) {
        self.arguments = arguments
        self.declaration = declaration
        self.confinement = confinement
        self.rights = rights
        self.caller = caller
        self.client = client
        self.actor = actor
        self.isRecall = isRecall
        try declaration.checkCount(of: arguments)
        if arguments.count > declaration.fixedCount || !declaration.requiredOptions.isEmpty { try findOptions() }
        if let confinement { try check(within: confinement) }
    }

    /// Refuses what is not within the confinement, and what cannot be decided. A malformed id is left to the code that
    /// reads it.
    private func check(within confinement: Confinement) throws(Failure) {
        guard declaration.role == .anybody || !declaration.subjects.isEmpty || declaration.repeatedSubject != nil else {
            throw .noPermissionForKey
        }
        for (place, subject) in declaration.subjects {
            guard let argument = argument(at: place), let id = Identifier(utf8: argument.bytes) else { continue }
            guard confinement.allows(id, as: subject) else { throw .noPermissionForKey }
        }
        switch declaration.repeatedSubject {
        case .catalogue?: guard confinement.allowsCatalogue else { throw .noPermissionForKey }
        case .channels?:
            for channel in arguments[min(declaration.fixedCount, arguments.count)...] {
                guard try TopicName(channel).isWithin(confinement) else { throw .noPermissionForChannel }
            }
        case nil: break
        }
    }

    private var hasOptions: Bool { options != .zero }

    private mutating func findOptions() throws(Failure) {
        let tokens = declaration.optionTokens
        // What follows a repeated parameter's place is read by the command itself.
        guard !tokens.isEmpty else { return }
        var index = declaration.fixedCount
        while index < arguments.count {
            let word = arguments[index]
            guard let option = tokens.firstIndex(where: { word.equals(capitals: $0) }) else {
                let known = tokens.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
                throw .syntax("\(word.shown) is no option of \(declaration.name), which takes \(known)")
            }
            guard index + 1 < arguments.count else { throw .syntax("a value is missing after \(word.shown)") }
            guard options[option] == 0 else { throw .syntax("\(word.shown) is given twice") }
            options[option] = UInt16(index + 1)
            index += 2
        }
        for option in declaration.requiredOptions where options[option] == 0 { throw missing(option) }
    }

    private func missing(_ option: Int) -> Failure {
        .syntax(
            "\(String(decoding: declaration.optionTokens[option], as: UTF8.self)) is missing; usage: "
                + declaration.usage)
    }

    private func argument(at place: ParameterPlace) -> Argument? {
        switch place {
        case .argument(let index): index < arguments.count ? arguments[index] : nil
        case .option(let number): options[number] == 0 ? nil : arguments[Int(options[number])]
        }
    }

    /// The id that the call is about; nil where it names no outlet, cart or order.
    package var key: Argument? {
        guard let place = declaration.key else { return nil }
        return argument(at: place)
    }

    /// The stream whose partition decides the call; nil where any server can answer it. A malformed id is left to the code
    /// that reads it.
    package var subject: StreamName? {
        guard let (place, category) = declaration.subject, let argument = argument(at: place),
            let id = Identifier(utf8: argument.bytes)
        else { return nil }
        return StreamName(category, id)
    }

    /// The partition that decides the call; nil where any server can answer it. Where there is only one, the id is not
    /// read for that.
    package func partition(in partitioning: Partitioning) -> Int? {
        guard partitioning.count > 1 else { return declaration.subject.map { _ in 0 } }
        return subject.map(partitioning.partition)
    }

    /// Whether the call writes, and its client has given it no id: sent twice, it may be carried out twice.
    package var isUnrepeatable: Bool {
        guard case .write = declaration.effect, !isRecall else { return false }
        return valueIndex(of: declaration.idOption?.place) == 0
    }

    /// The value of a parameter.
    package subscript<Value>(parameter: Parameter<Value>) -> Value {
        get throws(Failure) {
            guard let argument = argument(at: parameter.place) else {
                throw .syntax("\(parameter.field) is missing; usage: \(declaration.usage)")
            }
            return try parameter.read(argument, parameter.field)
        }
    }

    /// The value of a parameter, or nil where the call has none.
    package subscript<Value>(parameter: OptionalParameter<Value>) -> Value? {
        get throws(Failure) {
            guard let argument = argument(at: parameter.place) else { return nil }
            return try parameter.read(argument, parameter.field)
        }
    }

    /// The value of a parameter, or its default where the call has none.
    package subscript<Value>(parameter: DefaultedParameter<Value>) -> Value {
        get throws(Failure) { try self[parameter.given] ?? parameter.standard }
    }

    /// The arguments of a repeated parameter.
    package subscript(parameter: RepeatedParameter) -> Arguments.SubSequence {
        arguments[min(parameter.first, arguments.count)...]
    }

    // MARK: Writes

    /// The version that the client expects the stream to have.
    package var expectedVersion: Int64? {
        get throws(Failure) {
            guard hasOptions, let option = declaration.versionOption else { return nil }
            return try self[option]
        }
    }

    /// The client's id for the command, with a fingerprint of what the call asks for; and whose the command is.
    package func metadata() throws(Failure) -> EventMetadata {
        var metadata = try origin
        guard metadata.commandID != nil else { return metadata }
        metadata.fingerprint = Call.fingerprint(of: words(omitting: [])[0])
        return metadata
    }

    /// As ``metadata()``, with the sealed text in place of an option's value: the text cannot be guessed from what the
    /// log keeps.
    package func metadata(sealing text: OptionalParameter<Text>) throws(Failure) -> (SealedText?) -> EventMetadata {
        let metadata = try metadata(sealing: [text])
        return { metadata([$0]) }
    }

    /// The same for several options, whose sealed texts come in the order of the options.
    package func metadata(
        sealing texts: [OptionalParameter<Text>]
    ) throws(Failure) -> ([SealedText?]) -> EventMetadata {
        var metadata = try origin
        guard metadata.commandID != nil else { return { [metadata] _ in metadata } }
        let values = texts.map { valueIndex(of: $0.place) }
        // In the order in which the call has them.
        let order = values.indices.filter { values[$0] > 0 }.sorted { values[$0] < values[$1] }
        let pieces = words(omitting: order.map { values[$0] })
        return { sealed in
            var call = pieces[0]
            for (place, index) in order.enumerated() {
                if let text = sealed[index] { Call.append(text.ciphertext.utf8, to: &call) }
                call += pieces[place + 1]
            }
            metadata.fingerprint = Call.fingerprint(of: call)
            return metadata
        }
    }

    /// Whose the command is, and what the client says of it, without a fingerprint.
    package var origin: EventMetadata {
        get throws(Failure) {
            guard hasOptions || actor != nil else { return .none }
            var origin = EventMetadata.none
            if let option = declaration.idOption { origin.commandID = try self[option] }
            if let option = declaration.flowOption, let flow = try self[option] { origin.flow = flow }
            if let trace = try trace { origin.trace = trace }
            if let option = declaration.actorOption { origin.actor = try self[option] }
            if let actor {
                origin.claim = .besides(origin.actor)
                origin.actor = actor
            }
            return origin
        }
    }

    private static func fingerprint(of call: [UInt8]) -> Text { Text(Digest.of(call).bytes.prefix(8).hexadecimal) }

    /// Where the command belongs in a trace; nil where its client does not say.
    package var trace: TraceParent? {
        get throws(Failure) {
            guard let option = declaration.traceOption else { return nil }
            return try self[option]
        }
    }

    /// The words of the call up to the first of these arguments, between them, and behind the last. The options for its
    /// id, its flow, its actor and its trace are left out.
    private func words(omitting omitted: [Int]) -> [[UInt8]] {
        let beside = [
            valueIndex(of: declaration.idOption?.place), valueIndex(of: declaration.flowOption?.place),
            valueIndex(of: declaration.actorOption?.place), valueIndex(of: declaration.traceOption?.place),
        ]
        func isBeside(_ index: Int) -> Bool {
            beside.contains { $0 > 0 && (index == $0 || index == $0 - 1) }
        }
        var pieces: [[UInt8]] = [[]]
        for index in arguments.indices where !isBeside(index) {
            if index == 0 {
                Call.append(arguments[index].uppercased, to: &pieces[0])
            } else if omitted.contains(index) {
                pieces.append([])
            } else {
                Call.append(arguments[index].bytes, to: &pieces[pieces.count - 1])
            }
        }
        return pieces
    }

    private func valueIndex(of place: ParameterPlace?) -> Int {
        switch place {
        case nil: 0
        case .argument(let index)?: index
        case .option(let number)?: Int(options[number])
        }
    }

    private static func append(_ word: some Collection<UInt8>, to call: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(word.count).bigEndian) { call.append(contentsOf: $0) }
        call.append(contentsOf: word)
    }
}

extension Argument {
    /// The most bytes of a word that an error repeats.
    private static let longestShown = 64

    /// The word as errors repeat it.
    package var shown: String {
        let isCut = count > Argument.longestShown
        return "'\(String(decoding: bytes.prefix(Argument.longestShown), as: UTF8.self))\(isCut ? "…" : "")'"
    }
}
