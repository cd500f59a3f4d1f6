import EventLoop
import Fleet
import LineProtocol
import TextFormats

@testable import Application
@testable import Peers
@testable import Serving

/// Takes connections as another server does, and does what a test says.
@LoopActor
final class ScriptedServer {
    /// What it does with a connection at one point, instead of what a server does.
    typealias Step = @LoopActor (ScriptedServer) -> Void

    var onConnection: Step?
    var onHello: Step?
    var onJoin: Step?

    /// How others know it.
    private(set) var server: FleetServer
    /// The calls that it was given.
    private(set) var calls: [PeerCall] = []
    private(set) var connectionCount = 0
    /// The last connection.
    private(set) var connection: TCPConnection?
    private(set) var hasJoined = false
    private(set) var hasEnded = false

    private var listener: TCPListener?
    private var proof: PeerProof
    private var parser = RequestParser()
    private var input = ByteBuffer()

    init() throws {
        let secret = PeerProof.newSecret()
        server = FleetServer(id: .random(), address: "", secret: secret)
        proof = PeerProof(secret: secret, binding: [])
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { [weak self] in self?.accept($0) }
        self.listener = listener
        server.address = "127.0.0.1:\(listener.port)"
    }

    func close() {
        listener?.close()
        connection?.close()
    }

    private func accept(_ connection: TCPConnection) {
        self.connection = connection
        connectionCount += 1
        parser = RequestParser()
        input.removeAll(keepingCapacity: true)
        (hasJoined, hasEnded, calls) = (false, false, [])
        connection.onEnd = { [weak self] in
            self?.hasEnded = true
            connection.close()
        }
        connection.onClose = { [weak self] _ in self?.hasEnded = true }
        connection.startReading { [weak self] in self?.receive($0) }
        onConnection?(self)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        input.append(bytes)
        while true {
            guard case .request(let arguments, let consumed) = parser.next(input.bytes, within: RequestLimits()) else {
                return
            }
            let words = arguments.map { $0.string ?? "" }
            let call = PeerCall(arguments)
            input.consume(consumed)
            switch words.prefix(2) {
            case ["PEER", "HELLO"]:
                proof.nonces = (words[3], PeerProof.nonce())
                if let onHello { onHello(self) } else { sayHello() }
            case ["PEER", "JOIN"]:
                if let onJoin { onJoin(self) } else { sayWelcome() }
            default: if let call { calls.append(call) }
            }
        }
    }

    /// Answers the caller's greeting.
    func sayHello(proof text: String? = nil) {
        say {
            $0.array(2)
            $0.bulk(proof.nonces.callee)
            $0.bulk(text ?? proof.text(of: .callee))
        }
    }

    /// Takes calls from now on.
    func sayWelcome() {
        hasJoined = true
        say { $0.simpleString("OK") }
    }

    func say(_ write: (inout ReplyBuffer) -> Void) { say(encoded(write)) }

    func say(_ bytes: [UInt8]) { bytes.withUnsafeBytes { connection?.write($0) } }

    func answer(_ index: Int, _ value: Int64) { say { $0.answer(calls[index].number, .success(.integer(value))) } }
}

/// A connection to a server, with which a test says what it wants.
@LoopActor
final class RawCaller {
    private let connection: TCPConnection
    private var parser = ReplyParser()
    private(set) var replies: [Reply] = []
    private(set) var hasEnded = false

    init(to server: FleetServer) async throws {
        let address = ServerAddress(server.address)!
        connection = try await TCPConnection.connect(host: address.host, port: address.port)
        connection.onEnd = { [weak self] in
            self?.hasEnded = true
            self?.close()
        }
        connection.onClose = { [weak self] _ in self?.hasEnded = true }
        connection.startReading { [weak self] in self?.receive($0) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        parser.append(bytes)
        while let reply = try? parser.next() { replies.append(reply) }
    }

    /// One that the server takes calls from.
    static func joined(_ server: FleetServer) async throws -> RawCaller {
        let caller = try await RawCaller(to: server)
        let proof = await caller.greet(server)
        caller.say("PEER", "JOIN", proof?.text(of: .caller) ?? "")
        await turns { caller.replies.count > 1 || caller.hasEnded }
        return caller
    }

    /// Begins the proof, with a secret that may be another.
    func greet(_ server: FleetServer, nonce: String = PeerProof.nonce()) async -> PeerProof? {
        say("PEER", "HELLO", server.id.text, nonce)
        await turns { !replies.isEmpty || hasEnded }
        guard case .array(let values)? = replies.last, values.count == 2 else { return nil }
        var proof = PeerProof(secret: server.secret, binding: [])
        proof.nonces = (nonce, values[0].string ?? "")
        return proof
    }

    func say(_ words: String...) {
        var writer = RequestWriter()
        writer.write(words)
        say(Array(writer.bytes))
    }

    func say(_ call: ForwardedCall, number: Int64) {
        var writer = RequestWriter()
        PeerCall(number: number, call).write(to: &writer)
        say(Array(writer.bytes))
    }

    func say(_ announcement: PeerAnnouncement) {
        var writer = RequestWriter()
        announcement.write(to: &writer)
        say(Array(writer.bytes))
    }

    func say(_ bytes: [UInt8]) { bytes.withUnsafeBytes { connection.write($0) } }

    func close() { connection.close() }
}
