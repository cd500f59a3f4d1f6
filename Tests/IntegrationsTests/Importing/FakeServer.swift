import EventLoop
import LineProtocol
import TextFormats

/// A catalogue behind a socket on this machine, on a port that was free.
@LoopActor
final class FakeServer {
    var catalogue = Catalogue()
    /// How many commands are answered before the connection is closed; nil for all.
    var patience: Int?
    /// What it sends before any reply.
    var greeting = ""

    private(set) var address = ServerAddress(host: "127.0.0.1", port: 1)
    private var listener: TCPListener?
    private var connections: [TCPConnection] = []

    init(_ prepare: @LoopActor (FakeServer) -> Void = { _ in }) throws {
        prepare(self)
        let listener = try TCPListener(host: "127.0.0.1", port: 0) { [unowned self] in serve($0) }
        self.listener = listener
        address.port = UInt16(listener.port)
    }

    /// Frees the port, so that nobody answers at the address.
    func stop() {
        listener?.close()
        listener = nil
        for connection in connections { connection.close() }
    }

    private func serve(_ connection: TCPConnection) {
        connections.append(connection)
        Array(greeting.utf8).withUnsafeBytes { connection.write($0) }
        let conversation = Conversation()
        connection.startReading { [unowned self, unowned connection] bytes in
            conversation.input.append(bytes)
            var replies = ReplyBuffer()
            let goesOn = answer(&conversation.input, &conversation.parser, &replies)
            connection.write(replies.bytes)
            if !goesOn { connection.closeAfterWrites() }
        }
    }

    /// Whether the conversation continues.
    private func answer(
        _ input: inout ByteBuffer, _ parser: inout RequestParser, _ replies: inout ReplyBuffer
    ) -> Bool {
        while true {
            switch parser.next(input.bytes, within: RequestLimits()) {
            case .request(let arguments, let consumed):
                guard patience != 0 else { return false }
                patience = patience.map { $0 - 1 }
                replies.write(catalogue.answer(arguments.map { $0.string ?? "" }))
                input.consume(consumed)
            case .incomplete(let consumed):
                input.consume(consumed)
                return true
            case .failure(let error):
                replies.error("ERR", error.message)
                return false
            }
        }
    }
}

@LoopActor
private final class Conversation {
    var input = ByteBuffer()
    var parser = RequestParser()
}

extension ReplyBuffer {
    /// Writes what a catalogue answers.
    fileprivate mutating func write(_ reply: Reply) {
        switch reply {
        case .null: null()
        case .integer(let value): integer(value)
        case .bulk(let bytes): bulk(bytes)
        case .error(let code, let message): error(code, message)
        default: preconditionFailure("a catalogue does not answer \(reply)")
        }
    }
}
