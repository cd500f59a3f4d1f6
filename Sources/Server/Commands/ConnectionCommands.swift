internal import EventLoop
internal import LineProtocol

/// What Redis clients say when they connect, answered as Redis answers it.
enum ConnectionCommands {
    /// The most bytes of a client's name: `CLIENT LIST` shows all of them.
    private static let longestName = 256

    static let all: [Command] = [
        Command(
            "PING", .connection, isForSubscribers: true, "Answers PONG, or the message.", [.optional("message")]
        ) { session, arguments throws(Failure) in
            let isMessage = session.mayOnlyListen
            session.reply { replies in
                if isMessage {
                    replies.array(2)
                    replies.bulk("pong")
                    if arguments.count > 1 { replies.bulk(arguments[1].bytes) } else { replies.bulk("") }
                } else if arguments.count > 1 {
                    replies.bulk(arguments[1].bytes)
                } else {
                    replies.simpleString("PONG")
                }
            }
        },
        Command("ECHO", .connection, "Answers the message.", [.value("message")]) {
            session, arguments throws(Failure) in
            session.reply { $0.bulk(arguments[1].bytes) }
        },
        Command(
            "HELLO", .connection, "Says who the server is, and sets the version of the protocol, 2 or 3.",
            [.optional("protover", .integer), .optional("option", repeated: true)]
        ) { session, arguments throws(Failure) in
            try hello(session, arguments)
        },
        Command(
            "AUTH", .connection, "Authenticates; there are no users yet.",
            [.optional("username"), .value("password")]
        ) { session, arguments throws(Failure) in
            try authenticate(arguments.dropFirst().map(\.self))
            session.reply { $0.simpleString("OK") }
        },
        Command("SELECT", .connection, "Selects the only database, 0.", [.value("index", .integer)]) {
            session, arguments throws(Failure) in
            guard let index = arguments[1].integer else {
                throw Failure("ERR", "value is not an integer or out of range")
            }
            guard index == 0 else { throw Failure("ERR", "DB index is out of range") }
            session.reply { $0.simpleString("OK") }
        },
        Command(
            "CLIENT", .connection, "Names, describes and closes connections.",
            [.value("subcommand"), .optional("argument", repeated: true)]
        ) { session, arguments throws(Failure) in
            try client(session, arguments)
        },
        Command("RESET", .connection, isForSubscribers: true, "Sets the connection back to how it began.") {
            session, _ throws(Failure) in
            session.server.topics.unsubscribe(session)
            session.name = ""
            session.version = .resp2
            session.reply { $0.simpleString("RESET") }
        },
        Command("QUIT", .connection, isForSubscribers: true, "Closes the connection.") { session, _ throws(Failure) in
            session.reply { $0.simpleString("OK") }
            session.close()
        },
    ]

    // MARK: HELLO and AUTH

    @LoopActor
    private static func hello(_ session: Session, _ arguments: Arguments) throws(Failure) {
        var version = session.version
        if arguments.count > 1 {
            guard let number = arguments[1].integer else {
                throw Failure("ERR", "Protocol version is not an integer or out of range")
            }
            guard let asked = ProtocolVersion(rawValue: Int(clamping: number)) else {
                throw Failure("NOPROTO", "unsupported protocol version")
            }
            version = asked
        }
        var name: String?
        var index = 2
        while index < arguments.count {
            if arguments[index].equals(caseInsensitive: "AUTH"), index + 2 < arguments.count {
                try authenticate([arguments[index + 1], arguments[index + 2]])
                index += 3
            } else if arguments[index].equals(caseInsensitive: "SETNAME"), index + 1 < arguments.count {
                name = try clientName(arguments[index + 1])
                index += 2
            } else {
                let option = String(decoding: arguments[index].bytes, as: UTF8.self)
                throw Failure("ERR", "Syntax error in HELLO option '\(option)'")
            }
        }
        if let name { session.name = name }
        session.version = version
        let id = session.id
        session.reply { replies in
            replies.map(7)
            replies.bulk("server")
            replies.bulk("tiffin")
            replies.bulk("version")
            replies.bulk(Server.version)
            replies.bulk("proto")
            replies.integer(Int64(version.rawValue))
            replies.bulk("id")
            replies.integer(id)
            replies.bulk("mode")
            replies.bulk("standalone")
            replies.bulk("role")
            replies.bulk("master")
            replies.bulk("modules")
            replies.array(0)
        }
    }

    /// As Redis without a password: the default user is let in with any.
    private static func authenticate(_ words: [Argument]) throws(Failure) {
        guard words.count == 2 else {
            throw Failure(
                "ERR",
                "AUTH <password> called without any password configured for the default user. "
                    + "Are you sure your configuration is correct?")
        }
        guard words[0].bytes.elementsEqual("default".utf8) else {
            throw Failure("WRONGPASS", "invalid username-password pair or user is disabled.")
        }
    }

    private static func clientName(_ argument: Argument) throws(Failure) -> String {
        guard argument.bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure("ERR", "Client names cannot contain spaces, newlines or special characters.")
        }
        guard argument.count <= longestName else {
            throw Failure("ERR", "Client names cannot be longer than \(longestName) bytes.")
        }
        return String(decoding: argument.bytes, as: UTF8.self)
    }

    // MARK: CLIENT

    @LoopActor
    private static func client(_ session: Session, _ arguments: Arguments) throws(Failure) {
        let subcommand = arguments[1]
        switch (subcommand, arguments.count) {
        case (word("ID"), 2):
            let id = session.id
            session.reply { $0.integer(id) }
        case (word("GETNAME"), 2):
            let name = session.name
            session.reply { replies in if name.isEmpty { replies.null() } else { replies.bulk(name) } }
        case (word("SETNAME"), 3):
            session.name = try clientName(arguments[2])
            session.reply { $0.simpleString("OK") }
        case (word("SETINFO"), 4):
            try setInfo(session, arguments[2], arguments[3])
            session.reply { $0.simpleString("OK") }
        case (word("INFO"), 2):
            let line = session.description
            session.reply { $0.verbatim(line + "\n") }
        case (word("LIST"), 2...):
            let lines = session.server.sessions.values.sorted { $0.id < $1.id }.map(\.description)
            session.reply { $0.verbatim(lines.joined(separator: "\n") + "\n") }
        case (word("KILL"), 3...):
            try kill(session, arguments)
        case (word("ID"), _), (word("GETNAME"), _), (word("SETNAME"), _), (word("SETINFO"), _), (word("INFO"), _),
            (word("KILL"), _):
            let name = String(decoding: subcommand.bytes, as: UTF8.self).lowercased()
            throw .wordCount(of: "client|\(name)")
        default:
            let name = String(decoding: subcommand.bytes.prefix(128), as: UTF8.self)
            throw Failure("ERR", "unknown subcommand '\(name)'. Try HELP CLIENT.")
        }
    }

    @LoopActor
    private static func setInfo(_ session: Session, _ option: Argument, _ value: Argument) throws(Failure) {
        let text = try clientName(value)
        if option.equals(caseInsensitive: "LIB-NAME") {
            session.clientLibrary.name = text
        } else if option.equals(caseInsensitive: "LIB-VER") {
            session.clientLibrary.version = text
        } else {
            throw Failure("ERR", "Unrecognized option '\(String(decoding: option.bytes, as: UTF8.self))'")
        }
    }

    /// `CLIENT KILL addr`, answered OK, or `CLIENT KILL ID id` or `ADDR addr`, answered with how many were closed.
    @LoopActor
    private static func kill(_ session: Session, _ arguments: Arguments) throws(Failure) {
        let isOldForm = arguments.count == 3
        let sessions = session.server.sessions
        let found: Session?
        if isOldForm {
            let address = arguments[2]
            found = sessions.values.first { address.bytes.elementsEqual($0.connection.peerAddress.utf8) }
            if found == nil { throw Failure("ERR", "No such client") }
        } else if arguments.count == 4, arguments[2].equals(caseInsensitive: "ID") {
            guard let id = arguments[3].integer else { throw Failure("ERR", "client-id should be greater than 0") }
            found = sessions[id]
        } else if arguments.count == 4, arguments[2].equals(caseInsensitive: "ADDR") {
            found = sessions.values.first { arguments[3].bytes.elementsEqual($0.connection.peerAddress.utf8) }
        } else {
            throw .syntax
        }
        session.reply { replies in
            if isOldForm { replies.simpleString("OK") } else { replies.integer(found == nil ? 0 : 1) }
        }
        found?.close()
    }

    /// A pattern that a word matches whatever its case.
    private struct Word {
        var text: StaticString
        static func ~= (pattern: Word, argument: Argument) -> Bool { argument.equals(caseInsensitive: pattern.text) }
    }

    private static func word(_ text: StaticString) -> Word { Word(text: text) }
}

extension Session {
    /// The connection as `CLIENT LIST` shows it.
    fileprivate var description: String {
        let second: UInt64 = 1_000_000_000
        let now = LoopActor.now
        let command = lastCommand.isEmpty ? "NULL" : lastCommand.lowercased()
        return "id=\(id) addr=\(connection.peerAddress) laddr=\(connection.localAddress) name=\(name) "
            + "age=\((now - connectedAt) / second) idle=\((now - min(now, lastActivity)) / second) flags=\(subscriptions.isEmpty ? "N" : "P") "
            + "db=0 sub=\(subscriptions.count) cmd=\(command) tot-cmds=\(commandCount) user=default resp=\(version.rawValue) "
            + "lib-name=\(clientLibrary.name) lib-ver=\(clientLibrary.version)"
    }
}
