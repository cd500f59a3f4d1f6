package import Domain
package import EventLog
package import TextFormats
package import Users

/// What a command is called, who may use it, what it takes and what it does to others: everything but how it runs.
///
/// Dispatch, arity, `HELP`, `COMMAND` and docs/reference/ follow from it.
package final class CommandDeclaration: Sendable {
    /// Commands that stand together in `HELP`.
    package enum Group: String, CaseIterable, Sendable {
        case connection, server, catalogue, browsing, carts, orders, log
    }

    /// What a command does to the order in which the commands of one connection run.
    package enum Effect: Sendable {
        /// It reads, or is about the connection: it waits until earlier writes of the connection are durable, and so
        /// sees them.
        case read
        /// It writes a stream of that category: it joins earlier writes, except those to categories that it looks at.
        /// A menu belongs to an outlet, a cart is filled from both, and an order is placed from a cart.
        case write(StreamName.Category)
        /// It changes what lies beside the log, such as keys or stored rows. It waits as a read does.
        case maintenance

        /// Whether the command changes nothing.
        package var isRead: Bool { if case .read = self { true } else { false } }

        /// Whether the command waits for an earlier one about a stream of that category.
        package func waits(for earlier: StreamName.Category) -> Bool {
            switch (self, earlier) {
            case (.read, _), (.maintenance, _), (.write(.menu), .outlet), (.write(.cart), .outlet),
                (.write(.cart), .menu), (.write(.cart), .promotions), (.write(.promotions), .outlet),
                (.write(.cart), .supply), (.write(.supply), .outlet), (.write(.supply), .menu),
                (.write(.order), .cart):
                true
            case (.write, _): false
            }
        }

        /// The codes that every such command can answer.
        fileprivate var refusals: [Failure.Code] {
            let ofAll: [Failure.Code] = [
                .error, .invalid, .limit, .noPermission, .corrupt, .busy, .unavailable, .loading,
            ]
            switch self {
            case .read: return ofAll
            case .maintenance: return ofAll + [.notFound, .unknown, .readOnly]
            case .write:
                let domain: [Rejection.Code] = [.notFound, .conflict, .idMismatch, .state]
                return ofAll + domain.map(Failure.Code.rejected) + [.forgotten, .unknown, .readOnly]
            }
        }

        /// As `COMMAND DOCS` says it.
        package var shown: String {
            switch self {
            case .read: "read"
            case .write(let category): "write \(category.rawValue)"
            case .maintenance: "maintenance"
            }
        }
    }

    /// The name in capital letters; two words for a subcommand, `CLIENT KILL`.
    package let name: String
    /// Where `HELP` lists it.
    package let group: Group
    /// Who it is for.
    package let role: Role
    /// The right that it needs.
    package let right: Rights
    /// What it does to the order of commands.
    package let effect: Effect
    /// What its answer is as JSON; nil where that is not declared.
    package let answers: JSONSchema?
    /// The codes of the errors that it can answer, beside those by which a front refuses a call.
    package let refusals: [Failure.Code]
    /// One sentence that says what it does.
    package let summary: String
    /// The parameters, as people and clients read them.
    package let parameterDescriptions: [ParameterDescription]
    /// The words of the options, in capital letters; an option's number is its index.
    let optionTokens: [[UInt8]]
    /// The options that no call may lack, by number.
    let requiredOptions: [Int]
    /// What parameters name, for users who are confined.
    let subjects: [(place: ParameterPlace, subject: Subject)]
    /// The place of the id that the command is about, if it names an outlet, a cart or an order: clients of Redis Cluster
    /// take it for the command's key. Other ids in a call only play a part in it, and may have other slots.
    package let key: ParameterPlace?
    /// Where a call has the id of the stream whose partition decides it, and its category: a write's is the one that it
    /// writes, a read's the first cart or order that it names. Of outlets and menus, every server knows all.
    let subject: (place: ParameterPlace, category: StreamName.Category)?
    /// What the repeated arguments name, for users who are confined; nil where that does not matter.
    let repeatedSubject: RepeatedSubject?
    /// How many arguments have a fixed place, the command's name included; options follow them.
    let fixedCount: Int
    /// The fewest arguments of a call, the name included.
    let minimumCount: Int
    /// The most arguments of a call, or nil where only the front bounds them.
    let maximumCount: Int?
    /// The options that every write takes.
    let idOption: OptionalParameter<Text>?
    let versionOption: OptionalParameter<Int64>?
    let flowOption: OptionalParameter<Text>?
    let actorOption: OptionalParameter<Text>?
    let traceOption: OptionalParameter<TraceParent>?

    /// - Parameters:
    ///   - answers: what its answer is.
    ///   - refusing: why the domain can refuse it, besides what every command of its effect can be refused for.
    ///   - summary: one sentence.
    ///   - isForLogin: whether it may be used before a login.
    ///   - parameters: what the command declared; a write takes `ID`, `VERSION`, `FLOW`, `ACTOR` and `TRACE`
    ///     besides.
    package init(
        _ name: String, _ group: Group, role: Role, isForLogin: Bool = false, effect: Effect,
        answers: JSONSchema? = nil, refusing: [Rejection.Code] = [], _ summary: String, _ parameters: ParameterList
    ) {
        let isWrite = if case .write = effect { true } else { false }
        self.answers = answers
        refusals = effect.refusals + refusing.map(Failure.Code.rejected)
        right = isForLogin ? .login : Rights(toUseCommandFor: role, isWrite: isWrite)
        self.name = name
        self.group = group
        self.role = role
        self.effect = effect
        self.summary = summary
        var parameters = parameters
        if isWrite {
            idOption = parameters.option("ID", "id", .commandID)
            versionOption = parameters.option("VERSION", "version", .count)
            flowOption = parameters.option("FLOW", "id", .commandID)
            actorOption = parameters.option("ACTOR", "name", .commandID)
            traceOption = parameters.option("TRACE", "traceparent", .traceParent)
        } else {
            (idOption, versionOption, flowOption, actorOption, traceOption) = (nil, nil, nil, nil, nil)
        }
        optionTokens = parameters.optionTokens
        requiredOptions = parameters.requiredOptions
        fixedCount = parameters.fixedCount
        subjects = parameters.subjects
        key = subjects.first { [.outlet, .cart, .order].contains($0.subject) }?.place
        subject = CommandDeclaration.subject(of: effect, key: key, subjects)
        repeatedSubject = parameters.repeatedSubject
        let descriptions = parameters.descriptions
        parameterDescriptions = descriptions
        let nameCount = parameters.nameCount
        minimumCount = nameCount + descriptions.lazy.filter { !$0.isOptional }.map(\.argumentCount).reduce(0, +)
        maximumCount =
            descriptions.contains(where: \.isRepeated)
            ? nil : nameCount + descriptions.lazy.map(\.argumentCount).reduce(0, +)
    }

    private static func subject(
        of effect: Effect, key: ParameterPlace?, _ subjects: [(place: ParameterPlace, subject: Subject)]
    ) -> (place: ParameterPlace, category: StreamName.Category)? {
        switch effect {
        case .write(let category): return key.map { ($0, category) }
        case .maintenance: return nil
        case .read:
            for (place, subject) in subjects {
                if subject == .cart { return (place, .cart) }
                if subject == .order { return (place, .order) }
            }
            return nil
        }
    }

    /// The arity as Redis gives it: negative where a call may have more arguments.
    package var arity: Int { minimumCount == maximumCount ? minimumCount : -minimumCount }

    /// The index of the key among the arguments of every call; nil where there is none, or ``hasMovableKey``.
    package var keyIndex: Int? { if case .argument(let index)? = key { index } else { nil } }

    /// Whether the key is an option's value, so that only a call tells where it is.
    package var hasMovableKey: Bool { if case .option? = key { true } else { false } }

    /// Fails if a call has too few or too many arguments.
    package func checkCount(of arguments: Arguments) throws(Failure) {
        guard arguments.count >= minimumCount, arguments.count <= maximumCount ?? .max else {
            throw .argumentCount(of: name, "usage: \(usage)")
        }
    }

    /// The call as a person reads it.
    package var usage: String { ([name] + parameterDescriptions.map(\.usage)).joined(separator: " ") }
}

/// Something that clients can ask of the application.
package final class Command: Sendable {
    package typealias Body = @Sendable (any Service, borrowing Call) throws(Failure) -> Response

    /// What it is called and takes.
    package let declaration: CommandDeclaration
    /// What runs it.
    package let body: Body
    /// Whether servers ask it of one another, and no client does.
    package let isOfServers: Bool

    /// - Parameters:
    ///   - answers: what its answer is.
    ///   - refusing: why the domain can refuse it, besides what every command of its effect can be refused for.
    ///   - declare: declares the parameters, and makes what runs the command with their keys.
    init(
        _ name: String, _ group: CommandDeclaration.Group, role: Role, effect: CommandDeclaration.Effect = .read,
        isOfServers: Bool = false, answers: JSONSchema = .integer, refusing: [Rejection.Code] = [],
        _ summary: String, _ declare: (inout ParameterList) -> Body
    ) {
        self.isOfServers = isOfServers
        var parameters = ParameterList(for: name)
        body = declare(&parameters)
        declaration = CommandDeclaration(
            name, group, role: role, effect: effect, answers: answers, refusing: refusing, summary, parameters)
    }
}
