internal import Application
internal import Domain
internal import EventLoop
internal import LineProtocol
internal import Serving
internal import TextFormats
internal import Users

/// What Redis clients send when they connect, answered as Redis answers it.
enum ConnectionCommands {
    static let all = connection + transactions + clients

    private static let connection: [LineCommand] = [
        LineCommand("PING", .connection, isForSubscribers: true, "Returns PONG, or the message.") { parameters in
            let message = parameters.optional("message", .bytes)
            return { session, call throws(Failure) in
                let message = try call[message]
                let looksLikeMessage = session.mayOnlyListen
                session.reply { replies in
                    if looksLikeMessage {
                        replies.array(2)
                        replies.bulk("pong")
                        if let message { replies.bulk(message.bytes) } else { replies.bulk("") }
                    } else if let message {
                        replies.bulk(message.bytes)
                    } else {
                        replies.simpleString("PONG")
                    }
                }
            }
        },
        LineCommand("ECHO", .connection, "Returns the message.") { parameters in
            let message = parameters.required("message", .bytes)
            return { session, call throws(Failure) in
                let message = try call[message]
                session.reply { $0.bulk(message.bytes) }
            }
        },
        LineCommand(
            "HELLO", .connection, isForLogin: true,
            "Describes the server, and sets the version of the protocol, 2 or 3."
        ) { parameters in
            let version = parameters.optional("protover", .protocolVersion)
            let options = parameters.repeated(
                "option", accepting: "AUTH with a user and a password, SETNAME with a name", isOptional: true)
            return { session, call throws(Failure) in
                try hello(session, try call[version] ?? session.version, call[options])
            }
        },
        LineCommand(
            "AUTH", .connection, isForLogin: true,
            "Logs in, with a password or a token; the user is default if none is given."
        ) { parameters in
            let user = parameters.required("username", .bytes)
            let password = parameters.optional("password", .bytes)
            return { session, call throws(Failure) in
                try authenticate(session, try call[user], try call[password]) { _ in { $0.simpleString("OK") } }
            }
        },
        LineCommand("ACL WHOAMI", .connection, "Returns the name of the user, or default where there are no users.") {
            _ in
            { session, _ in
                let name = session.userName
                session.reply { $0.bulk(name) }
            }
        },
        LineCommand("SELECT", .connection, "Selects the only database, 0.") { parameters in
            let index = parameters.required("index", .wholeNumber.accepting("0"))
            return { session, call throws(Failure) in
                guard try call[index] == 0 else { throw Failure(.error, "DB index is out of range") }
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand(
            "RESET", .connection, isForSubscribers: true, isForLogin: true, isForTransactions: true,
            "Resets the connection to how it began: nobody is logged in."
        ) { _ in
            { session, _ in
                session.server.service.topics.unsubscribe(session.subscriber)
                session.name = ""
                session.version = .resp2
                session.transaction = nil
                session.written = []
                session.become(nil)
                session.reply { $0.simpleString("RESET") }
            }
        },
        LineCommand(
            "QUIT", .connection, isForSubscribers: true, isForLogin: true, isForTransactions: true,
            "Closes the connection."
        ) { _ in
            { session, _ in
                session.reply { $0.simpleString("OK") }
                session.close()
            }
        },
    ]

    // MARK: MULTI

    /// There are no transactions of several commands: a client that asks for one is told so, and nothing of it has
    /// happened.
    private static let transactions: [LineCommand] = [
        LineCommand(
            "MULTI", .connection, isForTransactions: true,
            "Begins what can only be discarded: every command is refused until EXEC or DISCARD."
        ) { _ in
            { session, _ throws(Failure) in
                guard session.transaction == nil else { throw Failure(.error, "MULTI calls can not be nested") }
                session.transaction = Session.Transaction()
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand(
            "EXEC", .connection, isForTransactions: true, "Ends a MULTI; is EXECABORT if a command was refused in it."
        ) { _ in
            { session, _ throws(Failure) in
                guard let transaction = session.transaction else { throw Failure(.error, "EXEC without MULTI") }
                session.transaction = nil
                guard !transaction.isRefused else {
                    throw Failure(.aborted, "Transaction discarded because of previous errors.")
                }
                session.reply { $0.array(0) }
            }
        },
        LineCommand("DISCARD", .connection, isForTransactions: true, "Ends a MULTI.") { _ in
            { session, _ throws(Failure) in
                guard session.transaction != nil else { throw Failure(.error, "DISCARD without MULTI") }
                session.transaction = nil
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand(
            "WATCH", .connection, isForTransactions: true, "Is refused: VERSION makes a write depend on a stream."
        ) { parameters in
            _ = parameters.repeated("key", accepting: "any bytes")
            return { _, _ throws(Failure) in
                throw Failure(.error, "there is nothing to WATCH; VERSION makes a write depend on its stream's version")
            }
        },
        LineCommand("UNWATCH", .connection, isForTransactions: true, "Does nothing, as nothing is watched.") { _ in
            { session, _ in session.reply { $0.simpleString("OK") } }
        },
    ]

    // MARK: HELLO and AUTH

    @LoopActor
    private static func hello(
        _ session: Session, _ version: ProtocolVersion, _ options: Arguments.SubSequence
    ) throws(Failure) {
        var name: String?
        var login: (user: Argument, password: Argument)?
        var words = options.makeIterator()
        while let option = words.next() {
            if option.equals(caseInsensitive: "AUTH"), let user = words.next(), let password = words.next() {
                login = (user, password)
            } else if option.equals(caseInsensitive: "SETNAME"), let value = words.next() {
                name = try ArgumentType<String>.clientName.read(value, "name")
            } else {
                let option = String(decoding: option.bytes, as: UTF8.self)
                throw Failure(.error, "Syntax error in HELLO option '\(option)'")
            }
        }
        let greet: @LoopActor (Session) -> (inout ReplyBuffer) -> Void = { session in
            if let name { session.name = name }
            session.version = version
            return greeting(of: session.id, version, isReplica: session.server.service.configuration.isFollower)
        }
        if let login { return try authenticate(session, login.user, login.password, then: greet) }
        guard session.user != nil || !session.server.requiresLogin else {
            throw Failure(
                .noAuthentication,
                "HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
                    + "<pass> option can be used to authenticate the client and select the RESP protocol version at "
                    + "the same time")
        }
        session.reply(greet(session))
    }

    private static func greeting(
        of id: Int64, _ version: ProtocolVersion, isReplica: Bool
    ) -> (inout ReplyBuffer) -> Void {
        { replies in
            replies.map(7)
            replies.bulk("server")
            replies.bulk("tiffin")
            replies.bulk("version")
            replies.bulk(Version.current)
            replies.bulk("proto")
            replies.integer(Int64(version.rawValue))
            replies.bulk("id")
            replies.integer(id)
            replies.bulk("mode")
            replies.bulk("standalone")
            replies.bulk("role")
            replies.bulk(isReplica ? "replica" : "master")
            replies.bulk("modules")
            replies.array(0)
        }
    }

    /// Logs in. Without users it is as in Redis without a password: the default user may log in with any.
    @LoopActor
    private static func authenticate(
        _ session: Session, _ user: Argument, _ password: Argument?,
        then body: @escaping @LoopActor (Session) -> (inout ReplyBuffer) -> Void
    ) throws(Failure) {
        if session.server.requiresLogin {
            guard let password else {
                return session.logIn(Array("default".utf8), Array(user.bytes), then: body)
            }
            return session.logIn(Array(user.bytes), Array(password.bytes), then: body)
        }
        guard password != nil else {
            throw Failure(
                .error,
                "AUTH <password> called without any password configured for the default user. "
                    + "Are you sure your configuration is correct?")
        }
        guard user.bytes.elementsEqual("default".utf8) else { throw .wrongPassword }
        session.reply(body(session))
    }

    // MARK: CLIENT

    private static let clients: [LineCommand] = [
        LineCommand("CLIENT ID", .connection, "Returns the number of the connection.") { _ in
            { session, _ in
                let id = session.id
                session.reply { $0.integer(id) }
            }
        },
        LineCommand("CLIENT GETNAME", .connection, "Returns the connection's name, or null.") { _ in
            { session, _ in
                let name = session.name
                session.reply { replies in if name.isEmpty { replies.null() } else { replies.bulk(name) } }
            }
        },
        LineCommand("CLIENT SETNAME", .connection, "Names the connection.") { parameters in
            let name = parameters.required("name", .clientName)
            return { session, call throws(Failure) in
                session.name = try call[name]
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand(
            "CLIENT SETINFO", .connection, "Says what library the client uses: LIB-NAME or LIB-VER."
        ) { parameters in
            let attribute = parameters.required("attribute", .bytes.accepting("LIB-NAME or LIB-VER"))
            let value = parameters.required("value", .clientName)
            return { session, call throws(Failure) in
                let (attribute, value) = (try call[attribute], try call[value])
                if attribute.equals(caseInsensitive: "LIB-NAME") {
                    session.clientLibrary.name = value
                } else if attribute.equals(caseInsensitive: "LIB-VER") {
                    session.clientLibrary.version = value
                } else {
                    throw Failure(
                        .error, "Unrecognized option '\(String(decoding: attribute.bytes, as: UTF8.self))'")
                }
                session.reply { $0.simpleString("OK") }
            }
        },
        LineCommand("CLIENT INFO", .connection, "Describes the connection.") { _ in
            { session, _ in
                let line = session.summary
                session.reply { $0.verbatim(line + "\n") }
            }
        },
        LineCommand("CLIENT LIST", .connection, role: .admin, "Describes every connection, one per line.") {
            parameters in
            _ = parameters.repeated("filter", accepting: "anything: it is passed over", isOptional: true)
            return { session, _ in
                let lines = session.server.sessions.values.sorted { $0.id < $1.id }.map(\.summary)
                session.reply { $0.verbatim(lines.joined(separator: "\n") + "\n") }
            }
        },
        LineCommand(
            "CLIENT KILL", .connection, role: .admin,
            "Closes a connection, by address or with ID or ADDR; returns OK, or how many it closed."
        ) { parameters in
            let filter = parameters.required("address-or-filter", .bytes.accepting("an address, ID or ADDR"))
            let value = parameters.optional("value", .bytes.accepting("a number, or an address"))
            return { session, call throws(Failure) in
                let sessions = session.server.sessions
                let filter = try call[filter]
                guard let value = try call[value] else {
                    guard let found = sessions.values.first(where: { $0.hasAddress(filter) }) else {
                        throw Failure(.error, "No such client")
                    }
                    session.reply { $0.simpleString("OK") }
                    return found.close()
                }
                let found: Session?
                if filter.equals(caseInsensitive: "ID") {
                    guard let id = value.integer else {
                        throw Failure(.error, "client-id should be greater than 0")
                    }
                    found = sessions[id]
                } else if filter.equals(caseInsensitive: "ADDR") {
                    found = sessions.values.first { $0.hasAddress(value) }
                } else {
                    throw .syntax("\(filter.shown) is neither ID nor ADDR")
                }
                session.reply { $0.integer(found == nil ? 0 : 1) }
                found?.close()
            }
        },
    ]
}

extension ArgumentType<String> {
    /// The most bytes of a client's name: `CLIENT LIST` shows all of them.
    private static var longestClientName: Int { 256 }

    /// The name of a client, or of its library.
    fileprivate static let clientName = ArgumentType(
        kind: .string, accepting: "at most \(longestClientName) bytes of ASCII, without blanks"
    ) { argument, _ throws(Failure) in
        guard argument.bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(.error, "Client names cannot contain spaces, newlines or special characters.")
        }
        guard argument.count <= longestClientName else {
            throw Failure(.error, "Client names cannot be longer than \(longestClientName) bytes.")
        }
        return String(decoding: argument.bytes, as: UTF8.self)
    }
}

extension ArgumentType<ProtocolVersion> {
    fileprivate static let protocolVersion = ArgumentType(kind: .integer, accepting: "2 or 3") {
        argument, _ throws(Failure) in
        guard let number = argument.integer else {
            throw Failure(.error, "Protocol version is not an integer or out of range")
        }
        guard let version = ProtocolVersion(rawValue: Int(clamping: number)) else {
            throw Failure(.noProtocol, "unsupported protocol version")
        }
        return version
    }
}

extension ArgumentType<Int64> {
    /// Any number, in Redis's words.
    static let wholeNumber = ArgumentType(kind: .integer, accepting: "a whole number") { argument, _ throws(Failure) in
        guard let number = argument.integer else { throw Failure(.error, "value is not an integer or out of range") }
        return number
    }
}

extension Session {
    fileprivate func hasAddress(_ address: Argument) -> Bool {
        address.bytes.elementsEqual(connection.peerAddress.utf8)
    }

    /// The user as `ACL WHOAMI` and `CLIENT LIST` name it.
    fileprivate var userName: String { user?.name.rawValue ?? "default" }

    /// The connection as `CLIENT LIST` shows it.
    var summary: String {
        let second: UInt64 = 1_000_000_000
        let now = LoopActor.now
        let command = lastCommand.isEmpty ? "NULL" : lastCommand.lowercased().replacing(" ", with: "|")
        let topics = subscriber.subscriptionCount
        return "id=\(id) addr=\(connection.peerAddress) laddr=\(connection.localAddress) name=\(name) "
            + "age=\((now - connectedAt) / second) idle=\((now - min(now, lastActivity)) / second) "
            + "flags=\(topics == 0 ? "N" : "P") db=0 sub=\(topics) cmd=\(command) tot-cmds=\(commandCount) "
            + "user=\(userName) resp=\(version.rawValue) "
            + "lib-name=\(clientLibrary.name) lib-ver=\(clientLibrary.version)"
    }
}
