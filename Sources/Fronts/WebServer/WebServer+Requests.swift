internal import Application
internal import Domain
internal import EventLoop
internal import HTTP
internal import Measurement
internal import Serving
internal import TextFormats
internal import Users

/// What becomes of a request.
enum Outcome {
    case answer(HTTPAnswer)
    /// An answer that is not known yet: what it is given to is called once, now or later.
    case promise(@LoopActor (@escaping @LoopActor (HTTPAnswer) -> Void) -> Void)
    case stream(WebStream)
}

/// Who asks, and what they may use.
struct Identity {
    var rights: Rights
    var confinement: Confinement?
    var caller: Caller
    /// The browser, at the store.
    var visitor: Visitor?
    /// Who has logged in, at the console, and how.
    var user: User?
    var login: Login?

    /// The proven caller: the owner of the cookie or the login. Nil at the console where no login is required.
    var actor: Text? { (visitor?.id ?? user?.name).map { Text($0.rawValue) } }
}

extension WebServer {
    /// Answers a request.
    func outcome(of request: HTTPRequest, from connection: WebConnection) -> Outcome {
        do throws(Refusal) {
            return try outcome(request, connection)
        } catch {
            var answer = error.problem.answer
            if let allowed = error.allowedMethods { answer.fields.append(("Allow", allowed)) }
            return .answer(answer)
        }
    }

    private func outcome(_ request: HTTPRequest, _ connection: WebConnection) throws(Refusal) -> Outcome {
        let isReading = ["GET", "HEAD"].contains(request.method)
        let text = request.path
        let isStream = text == "/v1/stream"
        if let problem = Guard(hosts: configuration.hosts).problem(with: request, isStream: isStream) {
            throw Refusal(problem)
        }
        guard let path = FormText.segments(ofPath: text), let query = FormText.items(ofQuery: request.query ?? "")
        else { throw Refusal(Problem(.badRequest, "ERR", "a % must begin the code of a byte, and texts be UTF-8")) }
        if isReading, let answer = plainAnswer(path, request, at: connection.site) { return .answer(answer) }
        if isReading, connection.site == .store, path == [""] {
            return .answer(HTTPAnswer(.found, fields: [("Location", "/discover")] + Fields.ofData))
        }
        if let page = Pages.page(at: path, of: connection.site) {
            guard isReading else { throw Refusal(allowing: ["GET"]) }
            return .answer(self.answer(page, path, query, request, connection))
        }
        guard let service else {
            throw Refusal(Problem(.unavailable, "UNAVAILABLE", "nothing was accepted: the log is being read"))
        }
        if connection.site == .console, path == ["v1", "session"] {
            return try login(request, connection, service)
        }
        var identity = try identity(of: request, from: connection)
        if isStream {
            guard request.method == "GET" else { throw Refusal(allowing: ["GET"]) }
            return .stream(try stream(query, identity, connection, service))
        }
        if isReading, path.count == 2, path[0] == "pictures" { return picture(path[1], identity, service) }
        if connection.site == .console, isReading, path == ["v1", "info"], let information {
            return .answer(WebServer.answer(WebServer.document(of: information())))
        }
        if connection.site == .console, isReading, path == ["metrics"] { return .answer(metrics) }
        let there = Route.table.values(at: path).filter { $0.sites.contains(connection.site) }
        guard !there.isEmpty else { throw Refusal(Problem(.notFound, "NOTFOUND", "there is nothing at \(text)")) }
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let route = there.first(where: { $0.method == method }) else {
            throw Refusal(allowing: there.map(\.method))
        }
        let type = request["content-type"]
        guard request.body.isEmpty || (route.takesPicture ? type?.hasPrefix("image/") ?? false : WebServer.isJSON(type))
        else {
            let wanted =
                route.takesPicture
                ? "a picture must be image/jpeg, image/png or image/webp" : "a body must be application/json"
            throw Refusal(Problem(.unsupportedMediaType, "ERR", wanted))
        }
        var cookie: Visitor?
        if route.parameters.contains(where: { $0.place == .cart }) {
            let known = identity.visitor
            if known == nil, route.isWrite {
                cookie = try newVisitor(request, connection)
                identity = WebServer.identity(of: cookie, identity.caller)
            } else if known == nil {
                return .answer(WebServer.answerWithoutCart(route))
            }
        } else if route.isAboutOneself, identity.visitor == nil {
            return .answer(WebServer.answer(Array(#"{"customers":[],"remainder":null}"#.utf8)))
        }
        return run(
            route,
            Route.Request(
                path: path, query: query, body: Array(request.body), key: request["idempotency-key"],
                trace: request["traceparent"].flatMap { TraceParent($0) },
                cart: identity.visitor?.cartID,
                customer: connection.site == .store ? identity.visitor?.id ?? Visitor.nobody : nil),
            identity, newVisitor: cookie, condition: isReading ? request["if-none-match"] : nil, connection,
            service)
    }

    /// Why a body of so many bytes is not read; nil if it is. A long one is read only from users who may do what the
    /// request asks for, and only a menu may be as long as menus are.
    func problem(withBodyOf length: Int, _ request: HTTPRequest, from connection: WebConnection) -> Problem? {
        guard length > configuration.storeLimits.bodyBytes else { return nil }
        do throws(Refusal) {
            let identity = try identity(of: request, from: connection)
            let path = FormText.segments(ofPath: request.path) ?? []
            let route = Route.table.values(at: path).first {
                $0.sites.contains(connection.site) && $0.method == request.method
            }
            guard let command = route?.command, identity.rights.contains(command.declaration.right),
                length <= configuration.documentBytes || command.declaration.name == "MENU.PUT"
                    || (route?.takesPicture == true && length <= Picture.maximumBytes)
            else { return Problem(HTTPRefusal.bodyTooLarge) }
            return nil
        } catch {
            return error.problem
        }
    }

    /// A picture of a menu, for good: its path is the digest of its bytes.
    private func picture(_ digest: String, _ identity: Identity, _ service: Server) -> Outcome {
        .promise { body in
            service.picture(digest, for: identity.caller) { result in
                switch result {
                case .success(let picture?):
                    let fields =
                        [(name: "Content-Type", value: picture.mediaType)] + Fields.ofData
                        + [("Cache-Control", "public, max-age=31536000, immutable")]
                    body(HTTPAnswer(.ok, fields: fields, body: picture.bytes[...]))
                case .success: body(Problem(.notFound, "NOTFOUND", "there is no such picture").answer)
                case .failure(let failure): body(Problem(failure).answer)
                }
            }
        }
    }

    static func isJSON(_ type: String?) -> Bool {
        type?.split(separator: ";").first?.lowercased().filter { $0 != " " } == "application/json"
    }

    // MARK: Commands

    private func run(
        _ route: Route, _ request: Route.Request, _ identity: Identity, newVisitor: Visitor?, condition: String?,
        _ connection: WebConnection, _ service: Server
    ) -> Outcome {
        let began = LoopActor.now
        let command = route.command
        connection.user = identity.user
        @LoopActor func counted(_ result: Result<Answer, Failure>, isRecalled: Bool = false) -> HTTPAnswer {
            let failure: Failure? = if case .failure(let failure) = result { failure } else { nil }
            onCall?(command, LoopActor.now - began, failure)
            return answer(
                result, to: route, at: "/" + request.path.joined(separator: "/"),
                wasSince: request.query.contains { $0.name == "since" }, isRecalled ? nil : identity.visitor,
                newVisitor: newVisitor, condition: condition)
        }
        do throws(Failure) {
            guard route.isAboutOneself || identity.rights.contains(command.declaration.right) else {
                throw Failure(.noPermission, "this needs the role \(command.declaration.role.rawValue)")
            }
            let earlier = WebServer.earlierCarts(route, request, identity)
            if !earlier.isEmpty {
                return .promise { [self] body in
                    recall(route, request, earlier[...], identity, connection, service) { [self] recalled in
                        if let recalled { return body(counted(recalled, isRecalled: true)) }
                        do throws(Failure) {
                            let response = try respond(route, request, identity, connection, service)
                            response.whenKnown { body(counted($0)) }
                        } catch {
                            body(counted(.failure(error)))
                        }
                    }
                }
            }
            switch try respond(route, request, identity, connection, service) {
            case .answer(let answer): return .answer(counted(.success(answer)))
            case .promise(let promise): return .promise { body in promise.whenKnown { body(counted($0)) } }
            }
        } catch {
            return .answer(counted(.failure(error)))
        }
    }

    private func respond(
        _ route: Route, _ request: Route.Request, _ identity: Identity, _ connection: WebConnection,
        _ service: Server, isRecall: Bool = false
    ) throws(Failure) -> Response {
        let words = try route.words(of: request)
        return try Arguments.with(words) { arguments throws(Failure) in
            try service.run(
                route.command,
                try Call(
                    route.command.declaration, arguments,
                    within: route.isAboutOneself ? nil : identity.confinement, with: identity.rights,
                    of: identity.caller, by: connection.id, actor: identity.actor, isRecall: isRecall))
        }
    }

    // MARK: What was sent before

    /// In so many carts before the current one it is looked whether a checkout is known already.
    private static let recalledCheckouts = 16

    /// The carts that a write with a key may have been about when it was sent first: since then a checkout may have
    /// moved the cookie on.
    private static func earlierCarts(
        _ route: Route, _ request: Route.Request, _ identity: Identity
    ) -> [Identifier] {
        guard route.isWrite, request.key != nil, route.parameters.contains(where: { $0.place == .cart }) else {
            return []
        }
        let isCheckout = if case .order = route.reply { true } else { false }
        return identity.visitor?.earlierCarts(isCheckout ? recalledCheckouts : 1) ?? []
    }

    /// Finds the answer that the same request got for one of these carts, or why that answer cannot be known now; nil
    /// if there never was one.
    private func recall(
        _ route: Route, _ request: Route.Request, _ carts: ArraySlice<Identifier>, _ identity: Identity,
        _ connection: WebConnection, _ service: Server,
        _ body: @escaping @LoopActor (Result<Answer, Failure>?) -> Void
    ) {
        guard let cart = carts.first else { return body(nil) }
        @LoopActor func next(_ result: Result<Answer, Failure>) {
            switch result {
            case .success: body(result)
            case .failure(let failure) where [.busy, .unavailable, .unknown].contains(failure.code): body(result)
            case .failure:
                // Not here: the caller may be in the middle of its work.
                LoopActor.task { [self] in
                    recall(route, request, carts.dropFirst(), identity, connection, service, body)
                }
            }
        }
        var earlier = request
        earlier.cart = cart
        do throws(Failure) {
            try respond(route, earlier, identity, connection, service, isRecall: true).whenKnown(next)
        } catch {
            next(.failure(error))
        }
    }

    /// What the command's answer is in HTTP.
    private func answer(
        _ result: Result<Answer, Failure>, to route: Route, at path: String, wasSince: Bool, _ visitor: Visitor?,
        newVisitor: Visitor?, condition: String?
    ) -> HTTPAnswer {
        var cookie = newVisitor
        var answer: HTTPAnswer
        switch (result, route.reply) {
        case (.failure(let failure), _): answer = Problem(HTTPWords(of: route).saying(failure)).answer
        case (.success(.null), _) where wasSince: answer = HTTPAnswer(.noContent, fields: WebServer.fieldsOfData)
        case (.success(.null), .own): answer = WebServer.answer(Array("null".utf8))
        case (.success(.null), _):
            let isAnswer = route.parameters.contains { $0.place == .filters }
            answer = Problem(.notFound, "NOTFOUND", isAnswer ? "nothing matches" : "there is nothing at \(path)").answer
        case (.success(.integer(let number)), .number(let name)):
            answer = WebServer.answer(Array("{\"\(name)\":\(number)}".utf8))
        case (.success(.document(let document)), _) where route.isAboutOneself:
            answer = WebServer.answer(document)
            answer.fields.append(Visitor.fieldOfNobody)
        case (.success(.text(let text)), _):
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("order", text)
            writer.endObject()
            answer = WebServer.answer(writer.bytes, .created)
            answer.fields.append(("Location", "/v1/orders/\(text)"))
            cookie = visitor?.next
        case (.success(.integer(let number)), _): answer = WebServer.answer(Array("\(number)".utf8))
        case (.success(.documents(let documents)), _):
            answer = WebServer.answer(
                Array("[".utf8) + documents.joined(separator: [UInt8(ascii: ",")]) + Array("]".utf8))
        case (.success(.document(let document)), .begun): answer = WebServer.answer(document, .accepted)
        case (.success(.document(let document)), let reply):
            answer = tagged(document[...], end: "", reply, wasSince, condition)
        case (.success(.parts(let start, let end)), let reply):
            answer = tagged(start, end: end, reply, wasSince, condition)
        }
        if let cookie { answer.fields.append(cookie.field) }
        return answer
    }

    private func tagged(
        _ document: ArraySlice<UInt8>, end: String, _ reply: Route.Reply, _ wasSince: Bool, _ condition: String?
    ) -> HTTPAnswer {
        let isShared: Bool
        switch reply {
        case .document(.shared) where !wasSince: isShared = true
        case .document(.tagged) where !wasSince: isShared = false
        default: return HTTPAnswer(.ok, fields: WebServer.fieldsOfData, body: document, end: end)
        }
        let tag = tags.tag(of: document, end: end, isShared: isShared)
        let isKnown = condition.map(tag.isNamed) ?? false
        return HTTPAnswer(
            isKnown ? .notModified : .ok, fields: WebServer.fieldsOfTagged + [("ETag", tag.text)],
            body: isKnown ? [] : document, end: isKnown ? "" : end)
    }

    private static let fieldsOfData =
        [(name: "Content-Type", value: "application/json"), ("Cache-Control", "no-store")] + Fields.ofData
    private static let fieldsOfTagged =
        [(name: "Content-Type", value: "application/json"), ("Cache-Control", "no-cache")] + Fields.ofData

    static func answer(_ document: [UInt8], _ status: HTTPStatus = .ok) -> HTTPAnswer {
        HTTPAnswer(status, fields: fieldsOfData, body: document[...])
    }

    /// `INFO` as an object of objects.
    private static func document(of sections: [Facts]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for section in sections {
            writer.key(dynamic: section.title.lowercased())
            writer.beginObject()
            for fact in section.facts {
                writer.key(dynamic: fact.name)
                writer.string("\(fact.value)")
            }
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    /// The cart of a client without a cookie.
    private static func answerWithoutCart(_ route: Route) -> HTTPAnswer {
        if case .number(let name) = route.reply { return answer(Array("{\"\(name)\":0}".utf8)) }
        return answer(Array("null".utf8))
    }

    // MARK: Who asks

    func identity(of request: HTTPRequest, from connection: WebConnection) throws(Refusal) -> Identity {
        let caller = Caller(address: clientAddress(request, connection))
        switch connection.site {
        case .store:
            return WebServer.identity(of: request["cookie"].flatMap(Visitor.init), caller)
        case .console:
            guard users.requiresLogin else {
                return Identity(rights: .all, confinement: nil, caller: caller, visitor: nil)
            }
            guard let login = login(of: request), let user = user(of: login) else {
                throw Refusal(
                    Problem(
                        .unauthorized, "NOAUTH",
                        "log in at /login, or send Authorization: Bearer and a user's name, a colon and a token"))
            }
            return Identity(
                rights: Rights(of: user.role), confinement: user.confinement, caller: Caller(user: "\(user.name)"),
                visitor: nil, user: user, login: login)
        }
    }

    private static func identity(of visitor: Visitor?, _ caller: Caller) -> Identity {
        Identity(
            rights: Rights(of: .customer),
            confinement: Confinement(ofCustomer: visitor?.id ?? Visitor.nobody), caller: caller, visitor: visitor)
    }

    /// Where the client is: a proxy that we know says whom it asks for.
    func clientAddress(_ request: HTTPRequest, _ connection: WebConnection) -> String {
        guard configuration.proxies.contains(connection.address),
            let address = request["x-forwarded-for"]?.split(separator: ",").last
        else { return connection.address }
        return String(address.drop { $0 == " " })
    }

    /// A new visitor, if a browser would keep the cookie and no one in between can read it.
    private func newVisitor(_ request: HTTPRequest, _ connection: WebConnection) throws(Refusal) -> Visitor {
        guard isSafe(request, connection) else {
            throw Refusal(
                Problem(
                    .forbidden, "DENIED", "a cart needs a cookie, which is safe only over https or on the same machine")
            )
        }
        return .random()
    }

    func isSafe(_ request: HTTPRequest, _ connection: WebConnection) -> Bool {
        Guard.isLocal(request.host)
            || configuration.proxies.contains(connection.address) && request["x-forwarded-proto"] == "https"
    }

    // MARK: Streams

    private func stream(
        _ query: [(name: String, value: String)], _ identity: Identity, _ connection: WebConnection,
        _ service: Server
    ) throws(Refusal) -> WebStream {
        let owner = identity.visitor.map { "\($0.id)" } ?? connection.address
        var topics: [WebStream.Topic] = []
        do throws(Failure) {
            if let unknown = query.first(where: { $0.name != "t" }) {
                throw Failure(.invalid, "\(unknown.name.prefix(64)): is unknown here")
            }
            guard !query.isEmpty else { throw Failure(.invalid, "t: is missing") }
            guard query.count <= configuration.maximumTopicsOfStream else {
                throw Failure(.limit, "a stream has at most \(configuration.maximumTopicsOfStream) topics")
            }
            for item in query { topics.append(try topic(item.value, identity, service)) }
            guard Set(topics.map(\.name.channel)).count == topics.count else {
                throw Failure(.invalid, "t: names a topic twice")
            }
            guard streams[owner, default: 0] < configuration.maximumStreamsOfCookie else {
                throw Failure(.limit, "there are \(configuration.maximumStreamsOfCookie) streams already")
            }
            let stream = try WebStream(
                topics, of: owner, for: identity, hidesOwnIDs: connection.site == .store, on: connection,
                service)
            streams[owner, default: 0] += 1
            return stream
        } catch {
            for topic in topics { service.topics.abandonUnheard(topic.name) }
            throw Refusal(Problem(error))
        }
    }

    func streamEnded(of owner: String) {
        let others = streams[owner, default: 1] - 1
        streams[owner] = others == 0 ? nil : others
    }

    /// The topic that a client names: `home:copper-ladle@62`, `cart` or `browse?cuisine=thai`.
    private func topic(
        _ text: String, _ identity: Identity, _ service: Server
    ) throws(Failure) -> WebStream.Topic {
        if let question = text.firstIndex(of: "?") { return try topic(text, question, identity, service) }
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        var channel = String(parts[0])
        if WebStream.ownKinds.contains(channel) {
            guard let cart = identity.visitor?.cartID else {
                throw Failure(.invalid, "\(channel): belongs to a visitor, who has a cookie")
            }
            channel += ":\(cart)"
        }
        var revision: Int64?
        if parts.count == 2 {
            guard let number = Int64(parts[1]), number >= 0 else {
                throw Failure(.invalid, "t: must have a revision behind the @")
            }
            revision = number
        }
        let name = try Arguments.with([Array(channel.utf8)]) { words throws(Failure) in try TopicName(words[0]) }
        if let confinement = identity.confinement, !name.isWithin(confinement) { throw .noPermissionForChannel }
        return WebStream.Topic(name: name, revision: revision)
    }

    /// The topic of a question: a command's name, and filters behind the mark as in its route.
    private func topic(
        _ text: String, _ mark: String.Index, _ identity: Identity, _ service: Server
    ) throws(Failure) -> WebStream.Topic {
        guard ["browse", "outlets"].contains(text[..<mark]) else {
            throw Failure(.invalid, "t: must have browse or outlets before the ?")
        }
        // The text comes back as the name of the events.
        guard text.utf8.allSatisfy({ $0 >= UInt8(ascii: " ") }),
            var filters = FormText.items(ofQuery: String(text[mark...].dropFirst()))
        else { throw Failure(.invalid, "t: is no question as it would stand in an address") }
        guard identity.confinement?.allowsCatalogue ?? true else { throw .noPermissionForChannel }
        let words =
            [Array(text[..<mark].uppercased().utf8)]
            + (try FilterKeys.words(&filters, options: Set(TopicName.questionOptions)))
        do throws(Failure) {
            let name = try Arguments.with(words) { words throws(Failure) in
                try service.topic(of: words, for: identity.caller)
            }
            return WebStream.Topic(name: name, event: text)
        } catch {
            throw HTTPWords.ofFilters.saying(error)
        }
    }

    // MARK: Pages, files, and how the server is

    /// What needs no application: files, and how the server is.
    private func plainAnswer(_ path: [String], _ request: HTTPRequest, at site: Site) -> HTTPAnswer? {
        switch path.first {
        case "a" where path.count > 2:
            return pages.file(
                version: path[1], path: path[2...].joined(separator: "/"), acceptsGzip: WebServer.acceptsGzip(request))
        case "sw.js" where path.count == 1: return pages.worker(acceptsGzip: WebServer.acceptsGzip(request))
        case "llms.txt" where path.count == 1 && site == .store:
            return pages.advice(acceptsGzip: WebServer.acceptsGzip(request))
        case "openapi.json" where path.count == 1: return WebServer.answer(Route.openAPIDocuments[site] ?? [])
        case "healthz" where path.count == 1: return WebServer.plain("ok\n")
        case "readyz" where path.count == 1:
            let reason = unreadyReason
            return WebServer.plain("\(reason ?? "ready")\n", reason == nil ? .ok : .unavailable)
        default: return nil
        }
    }

    /// Why requests should go elsewhere; nil where they need not.
    private var unreadyReason: String? {
        if isStopping { return "stopping" }
        return service == nil ? "reading the log" : service?.trouble
    }

    private static func plain(_ text: String, _ status: HTTPStatus = .ok) -> HTTPAnswer {
        HTTPAnswer(
            status,
            fields: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")] + Fields.ofData,
            body: Array(text.utf8)[...])
    }

    private static func acceptsGzip(_ request: HTTPRequest) -> Bool {
        request["accept-encoding"].map { acceptsGzip($0) } ?? false
    }

    /// Whether a client takes gzip: it says so, and not with a weight of 0.
    nonisolated static func acceptsGzip(_ encodings: String) -> Bool {
        encodings.lowercased().split(separator: ",").contains { encoding in
            let parts = encoding.split(separator: ";").map { $0.filter { $0 != " " } }
            return parts.first == "gzip"
                && !parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
        }
    }

    private func answer(
        _ page: Pages.Page, _ path: [String], _ query: [(name: String, value: String)], _ request: HTTPRequest,
        _ connection: WebConnection
    ) -> HTTPAnswer {
        var document: (path: String, json: [UInt8])?
        var link: SharedLink?
        var status = HTTPStatus.ok
        if let pattern = page.document, let service, let outlet = path.last {
            let identity = WebServer.identity(of: nil, Caller(address: clientAddress(request, connection)))
            switch Pages.answer(of: "OUTLET.HOME", [outlet], identity, service) {
            case .success(.parts(let start, let end)):
                let home = Array(start) + Array(end.utf8)
                document = (pattern.replacing("{outlet}", with: outlet), home)
                let item = query.first { $0.name == "item" }.flatMap {
                    Pages.document(of: "ITEM.GET", [outlet, $0.value], identity, service)
                }
                link = SharedLink(home: home, item: item)
            case .success: status = .notFound
            case .failure(let failure): status = Problem(failure).status
            }
        }
        let html = pages.html(page, document, link)
        let tag = tags.tag(of: html[...], isShared: false)
        var fields = Fields.ofPages
        fields.append(("Content-Type", "text/html; charset=utf-8"))
        fields.append(("Cache-Control", "no-cache"))
        fields.append(("ETag", tag.text))
        fields.append(("Vary", "Accept-Encoding"))
        if page.site == .store, request["cookie"].flatMap(Visitor.init) == nil, isSafe(request, connection) {
            fields.append(Visitor.random().field)
        }
        if status == .ok, let condition = request["if-none-match"], tag.isNamed(in: condition) {
            return HTTPAnswer(.notModified, fields: fields)
        }
        if WebServer.acceptsGzip(request), let compressed = compressedPages.bytes(of: html, tagged: tag) {
            fields.append(("Content-Encoding", "gzip"))
            return HTTPAnswer(status, fields: fields, body: compressed[...])
        }
        return HTTPAnswer(status, fields: fields, body: html[...])
    }
}

extension Pages {
    /// The page at a path whose `{…}` is an id.
    static func page(at path: [String], of site: Site) -> Page? {
        guard let page = table.values(at: path).first(where: { $0.site == site }) else { return nil }
        return page.path.hasSuffix("}") && Identifier(path.last ?? "") == nil ? nil : page
    }

    /// The document that a command answers; nil where there is none.
    @LoopActor
    fileprivate static func document(
        of command: String, _ words: [String], _ identity: Identity, _ service: Server
    ) -> [UInt8]? {
        switch answer(of: command, words, identity, service) {
        case .success(.document(let document)): document
        case .success(.parts(let start, let end)): Array(start) + Array(end.utf8)
        default: nil
        }
    }

    /// What a command answers to a page that has something of it.
    @LoopActor
    fileprivate static func answer(
        of command: String, _ words: [String], _ identity: Identity, _ service: Server
    ) -> Result<Answer, Failure> {
        guard let route = Route.all.first(where: { $0.command.declaration.name == command }) else {
            return .success(.null)
        }
        return Result { () throws(Failure) in
            let response = try Arguments.with(([command] + words).map { Array($0.utf8) }) {
                arguments throws(Failure) in
                try service.run(
                    route.command,
                    try Call(
                        route.command.declaration, arguments, within: identity.confinement, of: identity.caller))
            }
            // Without SINCE and AT the answer is there at once.
            guard case .answer(let answer) = response else { return .null }
            return answer
        }
    }
}

/// Why a request is not answered as it wants.
struct Refusal: Error {
    var problem: Problem
    var allowedMethods: String?

    init(_ problem: Problem) { self.problem = problem }

    /// The path has other methods.
    init(allowing methods: [String]) {
        let all = methods.contains("GET") ? methods + ["HEAD"] : methods
        allowedMethods = Set(all).sorted().joined(separator: ", ")
        problem = Problem(.methodNotAllowed, "ERR", "the methods here are \(allowedMethods ?? "")")
    }
}
