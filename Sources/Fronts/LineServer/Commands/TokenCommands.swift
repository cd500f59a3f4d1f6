internal import Application
internal import LineProtocol
internal import Serving
internal import TextFormats

/// How a client that goes from one server to another finds there what it has written here.
enum TokenCommands {
    static let all: [LineCommand] = [
        LineCommand(
            "TOKEN", .connection, "Returns a token of what this connection has written; null if it has written nothing."
        ) { _ in
            { session, call throws(Failure) in
                try session.reply(with: session.server.service.token(of: session.written, for: call.caller))
            }
        },
        LineCommand("AFTER", .connection, "Waits until the server knows what a token is about, at most a second.") {
            parameters in
            let token = parameters.required("token", .token)
            return { session, call throws(Failure) in
                try session.reply(with: session.server.service.waitUntilRead(try call[token]))
            }
        },
    ]
}

extension ArgumentType<LogToken> {
    fileprivate static let token = ArgumentType(kind: .string, accepting: "what TOKEN returned") {
        argument, field throws(Failure) in
        guard let token = argument.string.flatMap(LogToken.init) else {
            throw .invalid(field, "must be what TOKEN returned, such as 0.1204.9f2c81d4")
        }
        return token
    }
}
