internal import Application
internal import EventLoop
internal import Fleet
internal import LineProtocol
internal import Serving
internal import TextFormats

/// How another server of the same log proves that it is one. From then on, the connection is no client's any more.
enum PeerCommands {
    static let all: [LineCommand] = [
        LineCommand(
            "PEER HELLO", .connection, isForLogin: true,
            "Begins the proof of another server on the same log; clients have no use for it."
        ) { parameters in
            let server = parameters.required("server", .bytes)
            let nonce = parameters.required("nonce", .bytes)
            return { session, call throws(Failure) in
                let (server, nonce) = (try call[server], try call[nonce])
                guard let me = session.server.service.member?.server, server.bytes.elementsEqual(me.id.text.utf8),
                    nonce.count <= PeerProof.maximumNonceLength, let nonce = nonce.string
                else { throw .noPeer }
                var proof = PeerProof(secret: me.secret, binding: session.connection.channelBinding)
                proof.nonces = (nonce, PeerProof.nonce())
                session.peerProof = proof
                session.reply { replies in
                    replies.array(2)
                    replies.bulk(proof.nonces.callee)
                    replies.bulk(proof.text(of: .callee))
                }
            }
        },
        LineCommand(
            "PEER JOIN", .connection, isForLogin: true,
            "Ends the proof of another server, whose calls are carried out from then on."
        ) { parameters in
            let proof = parameters.required("proof", .bytes)
            return { session, call throws(Failure) in
                let given = try call[proof].string ?? ""
                guard let proof = session.peerProof, let adopt = session.server.onPeer,
                    proof.isRight(given, of: .caller)
                else {
                    session.server.log(.falsePeer, by: session)
                    session.close(.failedLogins)
                    throw .noPeer
                }
                session.reply { $0.simpleString("OK") }
                session.leave(to: adopt)
            }
        },
    ]
}

extension Failure {
    fileprivate static let noPeer = Failure(.noAuthentication, "this is not a server of the same log")
}
