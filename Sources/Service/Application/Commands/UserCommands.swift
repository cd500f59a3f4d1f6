internal import Domain
internal import EventLog
internal import TextFormats
internal import Users

/// Who can log in, and what they may do. No call has anything that one could log in with.
enum UserCommands {
    static let all: [Command] = [
        Command(
            "USER.LIST", .server, role: .admin, answers: AdministrationDocuments.users,
            "Returns every user, with the names of its tokens."
        ) { _ in
            { service, call throws(Failure) in try service.users(for: call.caller) }
        },
        Command(
            "USER.ADD", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.user,
            "Adds a user, who can log in once it has a token; returns the user."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            let role = parameters.requiredOption("ROLE", "role", .role)
            let only = parameters.option("ONLY", "ids", .grants)
            return { service, call throws(Failure) in
                let (name, role, grants) = (try call[name], try call[role], try call[only] ?? [])
                if let problem = User.problem(confining: role, to: grants) { throw .invalid("ONLY", problem) }
                return try service.perform(.add(User(name, role: role, grants: grants)), on: name, call)
            }
        },
        Command(
            "USER.CONFINE", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.user,
            "Says what a user is confined to; returns the user."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            let only = parameters.required("ids", .grants)
            return { service, call throws(Failure) in
                try service.perform(.confine(try call[only]), on: try call[name], call)
            }
        },
        Command(
            "USER.DISABLE", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.user,
            "Keeps a user from logging in, and closes its connections; returns the user."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            return { service, call throws(Failure) in
                try service.perform(.enable(false), on: try another(try call[name], than: call), call)
            }
        },
        Command(
            "USER.ENABLE", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.user,
            "Lets a user log in again; returns the user."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            return { service, call throws(Failure) in
                try service.perform(.enable(true), on: try call[name], call)
            }
        },
        Command(
            "USER.REMOVE", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.removedUser,
            "Removes a user, and closes its connections; returns its name."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            return { service, call throws(Failure) in
                try service.perform(.remove, on: try another(try call[name], than: call), call)
            }
        },
        Command(
            "USER.TOKEN", .server, role: .admin, effect: .maintenance,
            answers: AdministrationDocuments.newToken,
            "Gives a user another token; returns it, this once."
        ) { parameters in
            let name = parameters.required("user", .identifier)
            return { service, call throws(Failure) in
                try service.perform(.addToken(.random()), on: try call[name], call)
            }
        },
    ]

    /// The user, unless it is the caller: an admin is left who can undo what was done.
    private static func another(_ name: Identifier, than call: borrowing Call) throws(Failure) -> Identifier {
        guard call.actor?.string != name.rawValue else {
            throw .invalid("user", "is yourself: ask another admin, or use `tiffin user`")
        }
        return name
    }
}

extension ArgumentType<Role> {
    fileprivate static let role = oneOf(Role.ofUsers)
}

extension ArgumentType<[Identifier]> {
    /// What a user is confined to.
    fileprivate static let grants = ArgumentType(
        kind: .string, accepting: "ids with commas between them, or * for everything"
    ) { argument, field throws(Failure) in
        let text = argument.string ?? ""
        if text == "*" { return [] }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let ids = words.compactMap { Identifier(String($0)) }
        guard ids.count == words.count else {
            throw .invalid(field, "must be ids with commas between them, or * for everything")
        }
        return ids
    }
}
