import EventLoop
import SeededRandom
import TestSupport

/// Both ends of a connection without a network: what one has for the other is carried by the test.
final class Conversation {
    let server: TLSEngine
    let client: TLSEngine
    private let buffers = TLSBuffers()

    init(server: TLSContext, client: TLSContext, host: String = "localhost") {
        self.server = TLSEngine(server: server, buffers)
        self.client = TLSEngine(client: client, host: host, buffers)
    }

    /// What an engine has for its peer after a call.
    func output(of call: () -> Void) -> [UInt8] {
        call()
        var bytes: [UInt8] = []
        buffers.flush { bytes += $0 }
        return bytes
    }

    /// Gives an engine bytes, in the pieces that they are cut into. Returns what it delivers and what it has for its
    /// peer.
    func give(_ bytes: [UInt8], to engine: TLSEngine, cut: ([UInt8]) -> [[UInt8]] = { [$0] }) -> (
        plain: [UInt8], reply: [UInt8]
    ) {
        var plain: [UInt8] = []
        var reply: [UInt8] = []
        for piece in cut(bytes) {
            reply += output {
                piece.withUnsafeBytes { piece in
                    if engine.state == .handshaking {
                        engine.handshake(piece)
                    } else {
                        engine.receive(piece) { plain += $0 }
                    }
                }
            }
        }
        return (plain, reply)
    }

    /// What the client begins with.
    func clientHello() -> [UInt8] { output { client.handshake(UnsafeRawBufferPointer(start: nil, count: 0)) } }

    /// Carries everything to and fro until nobody has anything to say.
    func shakeHands(cut: ([UInt8]) -> [[UInt8]] = { [$0] }) {
        var toServer = clientHello()
        while !toServer.isEmpty {
            let toClient = give(toServer, to: server, cut: cut).reply
            toServer = give(toClient, to: client, cut: cut).reply
        }
    }

    /// Seals bytes, as many as there are.
    func sealed(_ bytes: [UInt8], by engine: TLSEngine) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            result += output { rest.prefix(TLSEngine.maximumSealing).withUnsafeBytes { engine.seal($0) } }
            rest = rest.dropFirst(TLSEngine.maximumSealing)
        }
        return result
    }
}

extension TestCertificates {
    func server(_ name: String = "server", clientAuthority: String? = nil) throws -> TLSContext {
        try .server(
            certificate: certificate(name), key: key(name),
            clientAuthority: clientAuthority.map { certificate($0) })
    }

    func client(_ name: String? = nil, authority: String = "ca") throws -> TLSContext {
        try .client(
            authority: certificate(authority), certificate: name.map { certificate($0) }, key: name.map { key($0) })
    }
}

/// The bytes in pieces of one.
func singly(_ bytes: [UInt8]) -> [[UInt8]] { bytes.map { [$0] } }

/// The bytes in random pieces.
func randomly(_ random: inout SeededGenerator, _ bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = min(rest.count, random.chance(30) ? random.number(1...10) : random.number(1...65_536))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
    }
    return pieces
}

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
