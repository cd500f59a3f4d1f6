internal import Application
internal import Domain
internal import EventLog
internal import EventLoop
internal import Fleet
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// One client: a ``SessionMachine`` at work on a socket.
@LoopActor
final class Session {
    /// For so long a client counts as one that has used up its time, in nanoseconds.
    private static let greed: UInt64 = 1_000_000_000
    /// Messages of so many bytes are sent at once.
    private static let longMessages = 64 << 10

    let id: Int64
    let connection: TCPConnection
    let server: LineServer
    let connectedAt = LoopActor.now
    var name = ""
    var clientLibrary = (name: "", version: "")
    private var lastCommandIndex: Int?
    private(set) var commandCount = 0
    private(set) var subscriber: Subscriber!
    /// The user who has logged in; nil without a login.
    private(set) var user: User?
    /// The same user, as events record it.
    private var actor: Text?
    /// What the client may do now.
    private var rights = Rights.all
    /// What it is confined to; nil where it is not.
    private var confinement: Confinement?
    /// Who it counts as where something is shared out.
    private var caller: Caller
    /// Since when it has had to log in; nil where it need not, or has.
    private var strangerSince: UInt64?
    private var loginFailures = 0
    /// What has happened since the client's `MULTI`; nil where there was none.
    var transaction: Transaction?
    /// What another server that says it is one has to prove; nil before it has begun to.
    var peerProof: PeerProof?
    /// What takes the connection over once everything is answered; nil for a client.
    private var successor: (@LoopActor (TCPConnection) -> Void)?
    /// Whether the client sends each command to the server that decides it, and wants to be told where that is.
    var followsSlots = false
    /// The partitions that the client has written to, for its tokens.
    var written: Set<Int> = []
    /// Until then it executes nothing but in its turn, because the client has just used up its time: many such clients
    /// would otherwise take a turn of the loop each with every read, and whenever replies are known or have left.
    private var greedyUntil: UInt64 = 0
    /// Until then its large request waits, because the one before kept the server busy for long.
    private var restsUntil: UInt64 = 0
    /// The bytes of memory that it takes, as its server knows it; see ``account()``.
    private(set) var heldBytes = 0
    /// What all clients of its address share.
    let share: AddressShare
    private var allowance: CommandAllowance

    private var machine: SessionMachine
    /// The command that is being executed, until it has been counted or has promised a reply.
    private var executing: Int?
    /// When it began. The clock is read once a command: where one ends, the next begins.
    private var executingSince: UInt64 = 0
    /// Channels whose messages are not sent, because the client reads too slowly, or is being led to where they stand.
    private var behind: [String: Lag] = [:]

    private enum Lag {
        /// The client has the document of this revision.
        case at(Int64)
        /// The next message is the one that leads on from there.
        case led
    }

    /// What replies that are not known yet find this session by.
    private let link = Link()

    /// What stands between `MULTI` and `EXEC`: nothing of it is kept, as nothing of it runs.
    struct Transaction {
        /// Whether a command was refused in it.
        var isRefused = false
    }

    /// Leads to a session until its connection is gone: as long as the database is away, nothing else is kept of
    /// clients that are gone. Not a weak reference, which makes every retain and release of the session slower.
    @LoopActor
    private final class Link {
        var session: Session?
    }

    init(id: Int64, _ connection: TCPConnection, of server: LineServer, share: AddressShare) {
        self.id = id
        self.share = share
        allowance = CommandAllowance(server.configuration.commandsPerSecond)
        self.connection = connection
        self.server = server
        caller = share.caller
        machine = SessionMachine(limits: server.configuration, at: LoopActor.now)
        subscriber = Subscriber(id, of: caller) { [unowned self] in take($0) }
    }

    func start() {
        link.session = self
        if server.requiresLogin { become(nil) }
        connection.outgoingLimit = server.configuration.outputLimit
        connection.onEnd = { [self] in
            machine.peerEnded()
            work()
        }
        connection.onDrain = { [self] in
            catchUp()
            work()
        }
        connection.onClose = { [self] failure in
            machine.close()
            link.session = nil
            account(for: 0)
            if let failure {
                if failure.name == "ENOBUFS" { server.statistics.count(.output) }
                server.logger.debug("client \(id): \(failure)")
            }
            server.sessionEnded(self)
        }
        startReading()
    }

    private func startReading() {
        connection.startReading { [self] bytes in
            let now = LoopActor.now
            machine.received(bytes, at: now)
            work(since: now)
        }
    }

    // MARK: The user

    /// Acts for a user from the next command on, or for none. Ends the subscriptions that are not allowed any more.
    func become(_ user: User?) {
        let isStranger = user == nil && server.requiresLogin
        // It could not log in again.
        if isStranger { transaction = nil }
        self.user = user
        actor = user.map { Text($0.name.rawValue) }
        rights = user.map { Rights(of: $0.role) } ?? (isStranger ? .login : .all)
        confinement = user?.confinement
        caller = user.map { Caller(user: "\($0.name)") } ?? share.caller
        machine.isAuthenticated = !isStranger
        machine.mayBeLong = rights.mayActAs(.merchant)
        strangerSince = isStranger ? strangerSince ?? LoopActor.now : nil
        server.note(self, isStranger: isStranger)
        let topics = server.service.topics
        topics.assign(subscriber, to: caller)
        var ended: [String] = []
        if isStranger {
            ended = subscriber.channels
            topics.unsubscribe(subscriber)
        } else if let confinement {
            ended = topics.unsubscribe(subscriber, beyond: confinement)
        }
        guard !ended.isEmpty else { return }
        var notices = ReplyBuffer(version: version)
        for channel in ended {
            notices.subscription("unsubscribe", Array(channel.utf8), subscriber.subscriptionCount)
        }
        machine.push(Array(notices.bytes))
        server.hasWork(self)
    }

    /// Checks a name and a password, and acts for that user if they are right. The reply keeps its turn, and nothing
    /// that the client sent behind it is looked at before.
    ///
    /// - Parameter body: changes the session as the command says, and gives the reply, once the login has succeeded.
    func logIn(
        _ name: [UInt8], _ password: [UInt8], then body: @escaping @LoopActor (Session) -> (inout ReplyBuffer) -> Void
    ) {
        guard let command = executing else { preconditionFailure("a login of no command") }
        executing = nil
        // What it is about does not matter: everything waits for it.
        let turn = machine.promise(about: .order, isHolding: true)
        server.logins.logIn(name, password, from: connection.peerAddress) {
            [link, server, executingSince] outcome in
            let failure = outcome.failure
            server.statistics.count(
                command, nanoseconds: LoopActor.now - executingSince, hasFailed: failure != nil)
            if let failure { server.statistics.count(failure) }
            guard let session = link.session else { return }
            if case .succeeded(let user) = outcome {
                session.become(user)
                session.machine.fulfil(turn, body(session))
            } else if let failure {
                session.machine.fulfil(turn) { $0.error(failure.code.word, failure.message) }
                session.loginFailures += 1
                if session.loginFailures >= server.configuration.maximumLoginFailures {
                    session.close(.failedLogins)
                }
            }
            server.hasWork(session)
        }
    }

    /// The version of the protocol that replies are written in.
    var version: ProtocolVersion {
        get { machine.version }
        set { machine.version = newValue }
    }

    var lastActivity: UInt64 { machine.lastActivity }

    /// The name of the last command that was executed; empty if there was none.
    var lastCommand: String { lastCommandIndex.map { LineCommandTable.shared.commands[$0].declaration.name } ?? "" }

    /// Whether the client listens to channels in RESP2. A message then looks like a reply, so the client may only send
    /// what is answered like one.
    var mayOnlyListen: Bool { version == .resp2 && subscriber.subscriptionCount > 0 }

    // MARK: Working

    /// Does what there is to do now, for as long as a client may take at once.
    ///
    /// - Parameters:
    ///   - now: the time, if the caller knows it. The clock is read only if something is executed: when replies leave,
    ///     nearly always nothing is.
    ///   - isItsTurn: whether it has waited for its turn.
    func work(since now: UInt64? = nil, isItsTurn: Bool = false) {
        var now = now
        var start: UInt64?
        while true {
            switch machine.next(pendingBytes: connection.pendingBytes) {
            case .execute(let arguments):
                executingSince = now ?? LoopActor.now
                now = executingSince
                let began = start ?? executingSince
                start = began
                let (since, isLarge) = (executingSince, isLarge(arguments))
                guard mayGoOn(since: began, isItsTurn), !isLarge || mayKeepBusy() else {
                    machine.postpone()
                    continue
                }
                execute(arguments)
                if isLarge { share.kept(busy: LoopActor.now - since, until: LoopActor.now) }
                now = executingSince
            case .reject(let error):
                server.statistics.count(Disconnection(error))
                fail(Failure(.error, error.message))
            case .send:
                send()
                now = nil
            case .stopReading:
                server.statistics.readingPauses += 1
                connection.stopReading()
            case .startReading: startReading()
            case .close:
                server.service.topics.unsubscribe(subscriber)
                connection.closeAfterWrites()
            case .wait:
                account()
                return handOver()
            }
        }
    }

    // MARK: Another server's connection

    /// Leaves the connection to something else once the replies are sent.
    func leave(to successor: @escaping @LoopActor (TCPConnection) -> Void) { self.successor = successor }

    private func handOver() {
        guard let successor, machine.isAnswered, !machine.isClosing, link.session != nil else { return }
        self.successor = nil
        link.session = nil
        (connection.onEnd, connection.onDrain, connection.onClose) = (nil, nil, nil)
        account(for: 0)
        server.sessionEnded(self)
        successor(connection)
    }

    private func send() {
        connection.write(machine.replies.bytes)
        machine.sent()
    }

    /// Whether a request may be executed now. If not, the session goes on later by itself.
    ///
    /// - Parameter began: since when requests of the client have been executed in a row.
    private func mayGoOn(since began: UInt64, _ isItsTurn: Bool) -> Bool {
        if executingSince - began > server.configuration.sessionQuantum {
            server.statistics.timePauses += 1
            greedyUntil = executingSince + Session.greed
            server.continueLater(self)
            return false
        }
        if executingSince >= greedyUntil {
            server.serves(self, at: executingSince)
        } else if !isItsTurn {
            server.continueLater(self)
            return false
        }
        guard server.limitsCommands else { return true }
        guard mayContinue(at: executingSince) else {
            server.statistics.ratePauses += 1
            server.continueWhenAllowed(self)
            return false
        }
        allowance.use(at: executingSince)
        share.allowance.use(at: executingSince)
        return true
    }

    private func isLarge(_ arguments: Arguments) -> Bool {
        arguments[arguments.count - 1].count > server.configuration.largeRequest
    }

    /// Whether a large request may be executed now, which can take long. If not, the session goes on later by itself.
    private func mayKeepBusy() -> Bool {
        guard executingSince < share.restsUntil, server.servesOthers(than: self, at: executingSince) else {
            return true
        }
        server.statistics.timePauses += 1
        restsUntil = share.restsUntil
        server.continueWhenAllowed(self)
        return false
    }

    /// Whether the client and its address may have more commands executed.
    func mayContinue(at now: UInt64) -> Bool {
        now >= restsUntil && allowance.isLeft(at: now) && share.allowance.isLeft(at: now)
    }

    // MARK: Memory

    /// Tells the server how much memory the client takes now.
    private func account() {
        guard link.session != nil else { return }
        account(for: machine.heldBytes + connection.pendingBytes)
    }

    private func account(for bytes: Int) {
        guard bytes != heldBytes else { return }
        let change = bytes - heldBytes
        heldBytes = bytes
        server.clientsHold(change, of: self)
    }

    /// Ends the connection at once, because its client takes more memory than any other or than it may.
    func evict() {
        guard link.session != nil else { return }
        server.statistics.count(.evicted)
        server.logger.debug("client \(id): it took \(heldBytes) bytes of memory")
        // Its input stays where it is: a command of it may be what is being executed.
        machine.discard()
        link.session = nil
        connection.close()
        account(for: 0)
    }

    /// Goes on after others have had their turn.
    func resume() {
        machine.resume()
        work(isItsTurn: true)
    }

    /// Executes one request, or postpones it.
    private func execute(_ arguments: Arguments) {
        guard let found = LineCommandTable.shared.index(of: arguments) else { return unknown(arguments) }
        let command = LineCommandTable.shared.commands[found]
        guard machine.admit(command.declaration.effect) else { return }
        // The one place where it is decided who may use a command. What a command is about is decided with its call.
        guard rights.contains(command.declaration.right) else { return refuse(command.declaration) }
        commandCount += 1
        lastCommandIndex = found
        executing = found
        do throws(Failure) {
            if mayOnlyListen, !command.isForSubscribers {
                try command.declaration.checkCount(of: arguments)
                throw .onlyForSubscribers(command.declaration)
            }
            if transaction != nil, !command.isForTransactions {
                transaction?.isRefused = true
                throw .notInTransaction
            }
            try run(command, arguments)
            executed(command, arguments, hasFailed: false)
        } catch {
            fail(error)
            executed(command, arguments, hasFailed: true)
        }
    }

    private func refuse(_ command: CommandDeclaration) {
        server.statistics.deniedCommands += 1
        transaction?.isRefused = true
        guard let user else { return fail(.noAuthentication) }
        let name = command.name.lowercased().replacing(" ", with: "|")
        fail(Failure(.noPermission, "User \(user.name) has no permissions to run the '\(name)' command"))
    }

    private func unknown(_ arguments: Arguments) {
        let name = arguments[0]
        if name.equals(caseInsensitive: "POST") || name.equals(caseInsensitive: "Host:") {
            server.log(.http, by: self)
            return close(.http)
        }
        guard strangerSince == nil else { return fail(.noAuthentication) }
        transaction?.isRefused = true
        let nearest = LineCommandTable.shared.nearest(to: arguments)
        if let container = LineCommandTable.shared.container(of: name) {
            guard arguments.count > 1 else {
                return fail(.argumentCount(of: container, "COMMAND HELP \(container) lists its subcommands"))
            }
            let subcommand = String(decoding: arguments[1].bytes.prefix(128), as: UTF8.self)
            let hint = nearest.map { "Did you mean \($0)? " } ?? ""
            return fail(Failure(.error, "unknown subcommand '\(subcommand)'. \(hint)Try COMMAND HELP \(container)."))
        }
        let shownName = String(decoding: name.bytes.prefix(128), as: UTF8.self)
        if let nearest { return fail(Failure(.error, "unknown command '\(shownName)'; did you mean \(nearest)?")) }
        let shown = arguments.dropFirst().prefix(20).map {
            "'\(String(decoding: $0.bytes.prefix(128), as: UTF8.self))' "
        }
        fail(
            Failure(.error, "unknown command '\(shownName)', with args beginning with: \(shown.joined())"))
    }

    private func run(_ command: LineCommand, _ arguments: Arguments) throws(Failure) {
        let call = try Call(
            command.declaration, arguments, within: confinement, with: rights, of: caller, by: id, actor: actor)
        switch command.body {
        case .session(let body): try body(self, call)
        case .service(let command):
            if followsSlots, let (owner, subject) = server.service.decider(of: call) {
                throw .moved(HashSlot(of: subject.id), to: owner.address)
            }
            if case .write = command.declaration.effect,
                let partition = call.partition(in: server.service.partitioning)
            {
                written.insert(partition)
            }
            try reply(with: server.service.run(command, call))
        }
    }

    /// A command is over for now: it is counted where its reply is made.
    private func executed(_ command: LineCommand, _ arguments: Arguments, hasFailed: Bool) {
        let now = LoopActor.now
        let nanoseconds = now - executingSince
        if let executing { server.statistics.count(executing, nanoseconds: nanoseconds, hasFailed: hasFailed) }
        if nanoseconds >= server.slowCommand {
            server.note(slow: command.declaration, arguments, nanoseconds: nanoseconds, of: self)
        }
        executing = nil
        executingSince = now
    }

    /// Replies with what a command answers, now or once it is known.
    func reply(with response: Response) throws(Failure) {
        switch response {
        case .answer(let answer):
            if let failure = answer.excess(over: server.configuration.replyLimit) { throw failure }
            machine.reply { $0.append(answer) }
        case .promise(let promise): reply(once: promise)
        }
    }

    /// Keeps the turn of a promised reply. The command is counted once the reply is known, even if the client is gone.
    private func reply(once promise: Promise) {
        guard let command = executing else { preconditionFailure("a promise of no command") }
        executing = nil
        let turn = machine.promise(about: promise.category, isHolding: promise.isHolding)
        promise.whenKnown { [link, server, executingSince] result in
            let failure: Failure? =
                switch result {
                case .success(let answer): answer.excess(over: server.configuration.replyLimit)
                case .failure(let failure): failure
                }
            if let failure { server.statistics.count(failure) }
            server.statistics.count(
                command, nanoseconds: LoopActor.now - executingSince, hasFailed: failure != nil)
            guard let session = link.session else { return }
            session.machine.fulfil(turn) { $0.append(failure.map { .failure($0) } ?? result) }
            server.hasWork(session)
        }
    }

    // MARK: Replies

    /// Writes a reply in its turn.
    func reply(_ write: (inout ReplyBuffer) -> Void) { machine.reply(write) }

    func fail(_ failure: Failure) {
        server.statistics.count(failure)
        machine.reply { $0.error(failure.code.word, failure.message) }
    }

    /// Takes a message of a topic. While much waits for a client, there is nothing to be gained by more: once it has read,
    /// one message leads it from what was sent last to what is. So a client that never reads holds one document.
    private func take(_ message: TopicMessage) {
        if let from = message.from {
            guard behind[message.channel] == nil else { return }
            if connection.pendingBytes > server.configuration.followPause { behind[message.channel] = .at(from) }
        } else {
            behind[message.channel] = nil
        }
        if behind[message.channel] == nil { push(message) }
    }

    /// The client has read everything.
    private func catchUp() {
        for (channel, lag) in behind {
            guard case .at(let revision) = lag else { continue }
            behind[channel] = .led
            server.service.topics.lead(subscriber, on: channel, from: revision, isFollower: true) {
                [link] message in
                guard let session = link.session, case .led = session.behind[channel] else { return }
                session.behind[channel] = nil
                session.push(message)
            }
        }
    }

    /// Sends a message of a topic.
    private func push(_ message: TopicMessage) {
        machine.push(message.encoded(as: version.rawValue) { message.frame(in: version) })
        server.hasWork(self)
        // Many subscribers with long messages would take much memory until the end of the turn.
        if machine.replies.count >= Session.longMessages, !machine.isClosing { send() }
        account()
    }

    // MARK: The end

    /// Sends what is due and closes; whatever else the client asked is not executed.
    ///
    /// - Parameter reason: what it counts as; nil if the client wanted it, or an admin, or the server stops.
    func close(_ reason: Disconnection? = nil) {
        if let reason, !machine.isClosing { server.statistics.count(reason) }
        machine.close()
        server.hasWork(self)
    }

    /// Executes nothing more: what is on its way is still answered.
    func drain() {
        machine.drain()
        work()
    }

    /// Closes the connection if the client has been silent, or in the middle of a command, for too long.
    func closeIfOverdue(at now: UInt64) {
        let limits = server.configuration
        if isLoginOverdue(at: now) {
            end(.lateLogin, "no login within \(limits.loginSeconds) seconds")
        } else if let reason = machine.overdue(at: now, isListening: subscriber.subscriptionCount > 0) {
            end(
                reason,
                reason == .partial
                    ? "a command took more than \(limits.partialCommandSeconds) seconds to arrive"
                    : "the connection was idle for more than \(limits.idleSeconds) seconds")
        }
    }

    private func end(_ reason: Disconnection, _ message: String) {
        guard !machine.isClosing else { return }
        server.logger.debug("client \(id): \(message)")
        fail(Failure(.error, message))
        close(reason)
    }

    /// Whether the client has not logged in for too long. One whose login is being checked waits for us.
    private func isLoginOverdue(at now: UInt64) -> Bool {
        guard let strangerSince, machine.isAnswered, now > strangerSince else { return false }
        return now - strangerSince > server.configuration.loginSeconds * 1_000_000_000
    }
}

extension Failure {
    /// Redis's words for a key that another server has.
    fileprivate static func moved(_ slot: HashSlot, to address: String) -> Failure {
        Failure(.moved, "\(slot.number) \(address)")
    }

    /// Redis's words for a client that has not logged in.
    static let noAuthentication = Failure(.noAuthentication, "Authentication required.")

    /// Redis's words, and what to do.
    fileprivate static let notInTransaction = Failure(
        .error,
        "Command not allowed inside a transaction: Tiffin has no transactions of several commands. "
            + "Send it without MULTI; in redis-py, pipeline(transaction=False)")

    /// Redis's words for a command that a subscribed client may not send.
    fileprivate static func onlyForSubscribers(_ command: CommandDeclaration) -> Failure {
        Failure(
            .error,
            "Can't execute '\(command.name.lowercased())': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                + "QUIT / RESET are allowed in this context")
    }
}

extension ReplyBuffer {
    /// What came of a promise of the application.
    fileprivate mutating func append(_ result: Result<Answer, Failure>) {
        switch result {
        case .success(let answer): append(answer)
        case .failure(let failure): error(failure.code.word, failure.message)
        }
    }

    /// An answer of the application.
    mutating func append(_ answer: Answer) {
        switch answer {
        case .null: null()
        case .integer(let value): integer(value)
        case .text(let text): bulk(text)
        case .document(let document): bulk(document)
        case .parts(let start, let end): bulk(start, followedBy: end)
        case .documents(let documents):
            array(documents.count)
            for document in documents { bulk(document) }
        }
    }
}

extension TopicMessage {
    /// The message as it is sent.
    fileprivate nonisolated func frame(in version: ProtocolVersion) -> [UInt8] {
        var buffer = ReplyBuffer(version: version, capacity: 64 + channel.utf8.count + data.count)
        buffer.push(3)
        buffer.bulk("message")
        buffer.bulk(channel)
        buffer.bulk(data)
        return Array(buffer.bytes)
    }
}
