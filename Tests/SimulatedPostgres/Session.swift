import SimulatedLoop

/// One connection, as its client sees it through libpq, and as the network and the database have it.
///
/// Everything happens on the loop's one thread.
public final class Session {
    enum State { case connecting, open, refused, lost }

    /// What connections begin with, and where what they send goes. Set once, before there are any.
    nonisolated(unsafe) public static var network: (any DatabaseNetwork)!

    /// Which process it belongs to: the address that was given.
    public let address: String
    /// What the database's administrator sees.
    public let name: String
    /// How long it waits for a lock, in milliseconds, as its client has set it; 0 for as long as it takes.
    public internal(set) var lockTimeout: UInt64 = 0
    /// The statements that the database has prepared for it.
    var prepared: Set<String> = []

    /// Its number among all, in the order in which they began.
    public let number = simulated_descriptor()
    let version = CString("15.18 (simulated)")
    let user = CString("tiffin")
    private(set) var state = State.connecting
    private(set) var message = CString("")
    private var gathered: [Message] = []
    /// What has come, and nil behind the results of each statement.
    private var arrived: [QueryResult?] = []
    /// How many of these libpq has read.
    private var consumed = 0
    /// Whether the client has met the end of the connection.
    private var hasToldLoss = false
    /// Whether the client has closed it.
    private var isClosed = false

    init(_ settings: [String: String]) {
        address = settings["dbname"] ?? ""
        name = settings["fallback_application_name"] ?? ""
        Session.network.connect(self)
    }

    // MARK: What the network does

    /// The database takes the connection.
    public func accept() {
        guard state == .connecting, !isClosed else { return }
        state = .open
        simulated_set_ready(number, 0, 1)
    }

    /// Nobody takes the connection, or the database says why it does not.
    public func refuse(_ message: String) {
        guard state == .connecting, !isClosed else { return }
        state = .refused
        self.message = CString(message)
        simulated_set_ready(number, 1, 1)
    }

    /// Results reach the client.
    public func deliver(_ results: Results) {
        guard state == .open, !isClosed else { return }
        arrived += results.results
        simulated_set_ready(number, 1, 1)
    }

    /// The client learns that the connection is gone.
    public func lose() {
        if state == .connecting { return refuse("connection to server failed: Connection refused\n") }
        guard state == .open, !isClosed else { return }
        state = .lost
        message = CString("server closed the connection unexpectedly\n\tThis probably means trouble.\n")
        simulated_set_ready(number, 1, 1)
    }

    // MARK: What libpq does

    func close() {
        isClosed = true
        simulated_set_ready(number, 0, 0)
        Session.network.closed(self)
    }

    func gather(_ message: Message) -> Int32 {
        gathered.append(message)
        return 1
    }

    /// What is sent on a lost connection goes nowhere; as with libpq, the loss is met when it is read.
    func send() -> Int32 {
        if state == .open { Session.network.send(Messages(gathered), on: self) }
        gathered = []
        return 1
    }

    /// Returns false at the end of the connection.
    func consume() -> Bool {
        consumed = arrived.count
        if state == .open { simulated_set_ready(number, 0, 1) }
        return state == .open
    }

    var isBusy: Bool { consumed == 0 && state == .open }

    func take() -> QueryResult? {
        if consumed > 0 {
            consumed -= 1
            return arrived.removeFirst()
        }
        guard state == .lost, !hasToldLoss else { return nil }
        hasToldLoss = true
        // Without a code: libpq found it by itself.
        return QueryResult(lostWith: message)
    }
}

/// What lies between clients and the database: when what arrives, and what does not.
public protocol DatabaseNetwork: AnyObject {
    /// A client connects.
    func connect(_ session: Session)
    /// A client has sent messages, up to a synchronization point.
    func send(_ messages: Messages, on session: Session)
    /// A client has closed its connection.
    func closed(_ session: Session)
}

/// What a client sends before one synchronization point: a transaction.
public struct Messages {
    let messages: [Message]

    init(_ messages: [Message]) { self.messages = messages }

    /// The names of the statements that are executed.
    public var statements: [String] {
        messages.compactMap { if case .execute(let name, _) = $0 { name } else { nil } }
    }
}

enum Message {
    case prepare(name: String)
    case execute(name: String, Parameters)
}
