// An asynchronous connection to PostgreSQL, on libpq's non-blocking and pipeline modes and the event loop.
//
// It promises:
// - statements are sent in the order of their calls, without waiting for one another, and answered in that
//   order; each is a transaction of its own unless it is executed by a `Transaction`;
// - every statement is answered exactly once: with rows, with an error if the statement had no effect, or with another
//   error if the connection is gone and the effect unknown;
// - nothing waits for the network once connected. While connecting, libpq offers no way to avoid three things that
//   may block: looking up a host's name, and reading password and certificate files.

internal import CLibPQ
public import EventLoop

/// One connection to PostgreSQL. Lives until it is closed or lost.
@LoopActor
public final class PostgresConnection {
    /// The most statements that may wait for their answers; one more is refused with SQLSTATE 53400.
    public static let outstandingLimit = 1_024
    /// The most bytes of one statement's parameters; one more is refused with SQLSTATE 54000.
    public static let parameterBytesLimit = 64 * 1024 * 1024

    /// Receives the result of a statement.
    public typealias Completion = @LoopActor (Result<Rows, PostgresError>) -> Void
    /// Receives the results of a transaction. If it failed, `rows` are those before the failure, and nothing had an
    /// effect.
    public typealias TransactionCompletion = @LoopActor (_ rows: [Rows], _ failure: PostgresError?) -> Void

    /// The connection was lost: called once, after every outstanding statement has failed. Not after `close()`.
    public var onLost: (@LoopActor (PostgresError) -> Void)?

    /// How long the server may send nothing while a statement waits for its answer. After that the connection counts as
    /// lost: a machine that stopped or vanished says nothing, for ever. nil to wait as long as it takes.
    public var answerDeadline: Duration? {
        didSet {
            watch?.cancel()
            watch = answerDeadline.map { deadline in
                let interval = max(1, deadline.wholeMilliseconds / Self.silentChecksLimit)
                return LoopTimer(milliseconds: interval, repeating: true) { [weak self] in
                    self?.checkSilence(deadline)
                }
            }
        }
    }

    /// nil once closed or lost.
    private var raw: OpaquePointer?
    private var poll: PollSource?
    private var outstanding: [Request] = []
    private var prepared: Set<String> = []
    private var watch: LoopTimer?
    /// How often the server has been found silent since it last sent something, or began to be waited for. Counted, not
    /// timed: if the loop was held up, what came meanwhile is read between one check and the next.
    private var silentChecks: UInt64 = 0
    private static let silentChecksLimit: UInt64 = 8
    /// Whether a transaction has it. Then statements go only through the transaction.
    var isReserved = false

    init(owning raw: OpaquePointer) throws(PostgresError) {
        self.raw = raw
        let version = PQparameterStatus(raw, "server_version").map { String(cString: $0) } ?? ""
        user = PQuser(raw).map { String(cString: $0) } ?? ""
        serverVersion = String(version.prefix { $0 != " " })
        guard PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1 else {
            throw PostgresError(connection: raw, .cannotConnect)
        }
        do {
            // Keeps the connection alive until it is closed or lost.
            let poll = try PollSource(fileDescriptor: PQsocket(raw)) { self.ready(for: $0) }
            self.poll = poll
            try poll.wait(for: .read)
        } catch {
            poll?.close()
            throw PostgresError(.connection, .cannotConnect, error.description)
        }
    }

    /// The server's version, such as `15.18`, without the packager's additions.
    public let serverVersion: String
    /// The database's user.
    private let user: String

    /// Whether the connection is neither closed nor known to be lost.
    public var isOpen: Bool { raw != nil }

    /// Statements sent and not answered yet.
    public var outstandingCount: Int { outstanding.reduce(0) { $0 + $1.count } }

    /// For about how long the server has said nothing while it was waited for; 0 without a deadline.
    public var silentMilliseconds: UInt64 {
        guard let answerDeadline, !outstanding.isEmpty else { return 0 }
        return silentChecks * answerDeadline.wholeMilliseconds / Self.silentChecksLimit
    }

    /// Executes a statement and waits for its rows.
    public func execute(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) async throws(PostgresError) -> Rows {
        precondition(!isReserved, "a transaction has this connection")
        return try await send(statement, parameters)
    }

    /// Executes a statement and calls `completion`: before this returns if the statement is refused or the connection
    /// is found to be gone.
    public func execute(
        _ statement: Statement, _ parameters: [Parameter] = [], completion: @escaping Completion
    ) {
        precondition(!isReserved, "a transaction has this connection")
        send(statement, parameters, completion)
    }

    /// Executes a statement once for each list of parameters, in their order and as one transaction, and calls
    /// `completion` as above. All is sent at once, before one synchronization point.
    public func execute(
        _ statement: Statement, forEach lists: [[Parameter]], completion: @escaping TransactionCompletion
    ) {
        precondition(!isReserved, "a transaction has this connection")
        send(statement, lists, completion)
    }

    /// Runs a script of any number of statements, as one transaction unless it contains its own.
    ///
    /// The connection must have nothing outstanding, and nothing else may be sent until this returns.
    public func runScript(_ sql: String) async throws(PostgresError) {
        precondition(!isReserved, "a transaction has this connection")
        try await sendScript(sql)
    }

    /// What can be done on a connection.
    public enum Rights: Sendable {
        /// What the database's user may.
        case own
        /// What a role may, and nothing else.
        case role(String)
        /// Only reading, whatever the user may.
        case reading
    }

    /// Goes on with some rights. If it may not, the connection is closed: with other rights it is of no use.
    public func take(_ rights: Rights) async throws(PostgresError) {
        do throws(PostgresError) {
            switch rights {
            case .own: break
            case .role(let role): _ = try await execute(Statement("set_role", "SET ROLE \(role)"))
            case .reading: _ = try await execute(Statement("read_only", "SET default_transaction_read_only = on"))
            }
        } catch {
            close()
            guard case .role(let role) = rights, error.sqlState == .insufficientPrivilege else { throw error }
            let quoted = user.replacing("\"", with: "\"\"")
            throw PostgresError(
                .server, error.sqlState,
                "the database's user '\(user)' may not act as \(role); an administrator of the database can allow it: "
                    + "GRANT \(role) TO \"\(quoted)\"")
        }
    }

    /// Closes the connection. Outstanding statements fail with an unknown outcome.
    public func close() {
        end(PostgresError(.connection, .connectionFailure, "the connection was closed"))
    }

    // MARK: Sending

    func send(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(PostgresError) -> Rows {
        try await withUnsafeContinuation(isolation: LoopActor.shared) { continuation in
            send(statement, parameters) { continuation.resume(returning: $0) }
        }.get()
    }

    private func send(
        _ statement: Statement, _ parameters: [Parameter], _ completion: @escaping Completion
    ) {
        send(statement, [parameters]) { rows, failure in
            completion(failure.map { .failure($0) } ?? .success(rows[0]))
        }
    }

    private func send(_ statement: Statement, _ lists: [[Parameter]], _ completion: @escaping TransactionCompletion) {
        let width = statement.parameterTypes.count
        precondition(!lists.isEmpty && lists.allSatisfy { $0.count == width }, "\(statement.name): parameter count")
        precondition(outstanding.first?.kind != .script, "a script or a copy has this connection")
        guard let raw else { return completion([], Self.gone) }
        guard outstandingCount + lists.count <= Self.outstandingLimit else {
            return completion([], Self.tooManyOutstanding)
        }
        var encoded: [EncodedParameters] = []
        for parameters in lists {
            guard let list = EncodedParameters(parameters, limit: Self.parameterBytesLimit) else {
                return completion([], Self.parametersTooLarge)
            }
            encoded.append(list)
        }
        if outstanding.isEmpty { silentChecks = 0 }
        let mustPrepare = prepared.insert(statement.name).inserted
        outstanding.append(
            Request(
                kind: .statement, count: lists.count, preparing: mustPrepare ? statement.name : nil,
                completion: completion))
        let types = statement.parameterTypes.map(\.rawValue)
        guard
            !mustPrepare
                || PQsendPrepare(raw, statement.name, statement.sql, Int32(types.count), types) == 1,
            encoded.allSatisfy({ list in
                list.withPointers { values, lengths, formats in
                    PQsendQueryPrepared(raw, statement.name, Int32(width), values, lengths, formats, binaryFormat)
                } == 1
            }),
            PQpipelineSync(raw) == 1
        else {
            return lose(PostgresError(connection: raw, .connectionFailure))
        }
        flush()
    }

    func sendScript(_ sql: String) async throws(PostgresError) {
        let failure = await withCheckedContinuation { continuation in
            sendAlone(Request(kind: .script) { continuation.resume(returning: $1) }, sql)
        }
        if let failure { throw failure }
    }

    /// Begins to copy the rows of a query. The connection must have nothing outstanding, and nothing else may be sent
    /// until the copy has ended.
    func sendCopy(_ query: String) -> CopyOut {
        let copy = CopyOut { [weak self] in
            // While there was no room, the connection did not listen to the server.
            self?.silentChecks = 0
            self?.takeResults()
            self?.flush()
        }
        let request = Request(kind: .script, copy: copy) { copy.end($1.map { .failure($0) } ?? .success(())) }
        sendAlone(request, "COPY (\(query)) TO STDOUT (FORMAT binary)")
        return copy
    }

    /// Sends SQL outside pipeline mode.
    private func sendAlone(_ request: Request, _ sql: String) {
        precondition(outstanding.isEmpty, "a script or a copy needs the connection to itself")
        guard let raw else { return request.completion([], Self.gone) }
        silentChecks = 0
        outstanding.append(request)
        if PQexitPipelineMode(raw) == 1, PQsendQuery(raw, sql) == 1 {
            flush()
        } else {
            lose(PostgresError(connection: raw, .connectionFailure))
        }
    }

    private func flush() {
        guard let raw else { return }
        let state = PQflush(raw)
        guard state >= 0 else { return lose(PostgresError(connection: raw, .connectionFailure)) }
        do {
            let reading: PollSource.Interest = isListening ? .read : []
            try poll?.wait(for: state == 0 ? reading : reading.union(.write))
        } catch {
            lose(PostgresError(.connection, .connectionFailure, error.description))
        }
    }

    // MARK: Receiving

    /// Whether there is room for what the server sends.
    private var isListening: Bool { outstanding.first?.copy?.isFull != true }

    private func checkSilence(_ deadline: Duration) {
        guard !outstanding.isEmpty, isListening else { return }
        silentChecks += 1
        guard silentChecks > Self.silentChecksLimit else { return }
        lose(PostgresError(.connection, .noAnswer, "no answer within \(deadline)"))
    }

    private func ready(for interest: PollSource.Interest) {
        guard let raw else { return }
        if interest.contains(.read) { silentChecks = 0 }
        if interest.contains(.read), PQconsumeInput(raw) == 0 {
            // What the server said before it went can still be read.
            takeResults()
            if self.raw != nil { lose(PostgresError(connection: raw, .connectionFailure)) }
            return
        }
        takeResults()
        flush()
    }

    private func takeResults() {
        while let raw, PQisBusy(raw) == 0, !outstanding.isEmpty {
            if let copy = outstanding[0].copy, outstanding[0].isCopying {
                guard copy.take(from: raw) else { return }
                outstanding[0].isCopying = false
            } else if let result = PQgetResult(raw) {
                take(result)
            } else if outstanding[0].kind == .script {
                guard PQenterPipelineMode(raw) == 1 else {
                    return lose(PostgresError(connection: raw, .connectionFailure))
                }
                completeFirst()
            } else if PQstatus(raw) == CONNECTION_BAD {
                lose(PostgresError(connection: raw, .connectionFailure))
            }
        }
    }

    private func take(_ result: OpaquePointer) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if outstanding[0].preparing != nil {
                outstanding[0].preparing = nil
                PQclear(result)
            } else {
                if outstanding[0].kind == .script { outstanding[0].rows = [] }
                outstanding[0].rows.append(Rows(owning: result))
            }
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            completeFirst()
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
        case PGRES_FATAL_ERROR:
            let error = PostgresError(result)
            PQclear(result)
            if error.kind == .connection { return lose(error) }
            if let name = outstanding[0].preparing { prepared.remove(name) }
            outstanding[0].failure = outstanding[0].failure ?? error
        case PGRES_COPY_OUT where outstanding[0].copy != nil:
            PQclear(result)
            outstanding[0].isCopying = true
        default:
            PQclear(result)
            lose(PostgresError(.connection, .connectionFailure, "this form of COPY is not supported"))
        }
    }

    private func completeFirst() {
        let request = outstanding.removeFirst()
        if request.failure != nil || request.rows.count == request.count {
            return request.completion(request.rows, request.failure)
        }
        let error = PostgresError(.connection, .connectionFailure, "the server answered nothing")
        request.completion([], error)
        lose(error)
    }

    // MARK: Ending

    private func lose(_ error: PostgresError) {
        let onLost = onLost
        end(error)
        onLost?(error)
    }

    private func end(_ error: PostgresError) {
        guard let raw else { return }
        self.raw = nil
        // The descriptor belongs to libpq, and must not be watched when it is closed.
        poll?.close()
        poll = nil
        watch?.cancel()
        watch = nil
        PQfinish(raw)
        onLost = nil
        let abandoned = outstanding
        outstanding = []
        for request in abandoned { request.completion([], error) }
    }

    private static let gone = PostgresError(.connection, .connectionFailure, "the connection is closed")
    private static let tooManyOutstanding = PostgresError(
        .server, .configurationLimitExceeded,
        "more than \(outstandingLimit) statements are outstanding on this connection")
    private static let parametersTooLarge = PostgresError(
        .server, .programLimitExceeded, "the parameters are longer than \(parameterBytesLimit) bytes")
}
