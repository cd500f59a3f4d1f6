internal import Application
internal import Domain
internal import EventLoop
internal import HTTP
internal import Serving
internal import TextFormats
internal import Users

// Who is at the console: a browser logs in once and has a cookie, a program sends a token each time.
extension WebServer {
    /// How a request proves whose it is: by `Bearer name:token`, and otherwise by the cookie of a session.
    func login(of request: HTTPRequest) -> Login? {
        guard let authorization = request["authorization"] else {
            return request["cookie"].flatMap { sessions.login(cookies: $0, at: LoopActor.now) }
        }
        guard authorization.lowercased().hasPrefix("bearer ") else { return nil }
        let parts = authorization.dropFirst(7).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = Identifier(String(parts[0])), let user = users[name],
            let token = Token(Array(parts[1].utf8)), user.has(token)
        else { return nil }
        return Login(name: name, proof: .token(token.digest))
    }

    /// The user who has logged in, as long as that holds.
    func user(of login: Login) -> User? {
        if let session = login.session, sessions.login(of: session, at: LoopActor.now) == nil { return nil }
        return login.user(among: users)
    }

    /// Whether a login still holds, with the rights that it had.
    func mayGoOn(_ identity: Identity, at site: Site) -> Bool {
        guard site == .console, users.requiresLogin else { return true }
        guard let before = identity.user, let user = identity.login.flatMap({ self.user(of: $0) }) else { return false }
        return user.role == before.role && user.grants == before.grants
    }

    /// Answers `/v1/session`: who the caller is, a login, and its end.
    func login(
        _ request: HTTPRequest, _ connection: WebConnection, _ service: Server
    ) throws(Refusal) -> Outcome {
        switch request.method {
        case "GET", "HEAD":
            return .answer(WebServer.answer(WebServer.document(of: try identity(of: request, from: connection).user)))
        case "POST": return try logIn(request, connection, service)
        case "DELETE":
            let field = sessions.end(login(of: request)?.session)
            endStreamsWithoutLogin()
            return .answer(
                HTTPAnswer(.noContent, fields: [("Cache-Control", "no-store"), field] + Fields.ofData))
        default: throw Refusal(allowing: ["DELETE", "GET", "POST"])
        }
    }

    private func logIn(
        _ request: HTTPRequest, _ connection: WebConnection, _ service: Server
    ) throws(Refusal) -> Outcome {
        guard WebServer.isJSON(request["content-type"]) else {
            throw Refusal(Problem(.unsupportedMediaType, "ERR", "a body must be application/json"))
        }
        guard isSafe(request, connection) else {
            throw Refusal(
                Problem(
                    .forbidden, "DENIED", "a login needs a cookie, which is safe only over https or on the same machine"
                ))
        }
        guard users.requiresLogin else { return .answer(WebServer.answer(WebServer.document(of: nil))) }
        let (name, password) = try WebServer.credentials(Array(request.body))
        let address = clientAddress(request, connection)
        // As addresses of connections are written, with a port.
        let place = address.contains(":") ? "[\(address)]:0" : "\(address):0"
        return .promise { [self] body in
            service.logins.logIn(name, password, from: place) { [self] outcome in
                body(answer(to: outcome, password))
            }
        }
    }

    private func answer(to outcome: Logins.Outcome, _ password: [UInt8]) -> HTTPAnswer {
        guard case .succeeded(let user) = outcome,
            let proof = Token(password).map({ Login.Proof.token($0.digest) }) ?? user.password.map(Login.Proof.password)
        else { return Problem(outcome.failure ?? .wrongPassword).answer }
        var answer = WebServer.answer(WebServer.document(of: user))
        answer.fields.append(sessions.begin(Login(name: user.name, proof: proof), at: LoopActor.now))
        return answer
    }

    private static func credentials(_ body: [UInt8]) throws(Refusal) -> (name: [UInt8], password: [UInt8]) {
        do throws(Failure) {
            var members = try Route.members(of: body)
            guard case .string(let name)? = members.removeValue(forKey: "name"),
                case .string(let password)? = members.removeValue(forKey: "password")
            else { throw Failure(.invalid, "body: must have a name and a password, both strings") }
            if let other = members.keys.min() { throw Route.unknown(other) }
            return (Array(name.utf8), Array(password.utf8))
        } catch {
            throw Refusal(Problem(error))
        }
    }

    /// `{"user":"anna","role":"auditor"}`; without users there are no names, and everybody is an admin.
    private static func document(of user: User?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("user", user?.name.rawValue)
        writer.field("role", (user?.role ?? .admin).rawValue)
        writer.endObject()
        return writer.bytes
    }
}
