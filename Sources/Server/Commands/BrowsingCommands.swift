internal import Catalogue
internal import Domain
internal import EventLog
internal import EventLoop
internal import LineProtocol
internal import Projections

/// What customers look at.
enum BrowsingCommands {
    static let all: [Command] = [
        Command(
            "OUTLET.HOME", .browsing, role: .customer,
            "Gives an outlet's home, now or as of a moment: sections, tag bar and carousels, or null.",
            [
                .key("outlet"), .optional("revision", .integer, token: "SINCE"), .optional("cart", token: "CART"),
                .optional("moment", token: "AT"),
            ]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let options = try CallOptions(ofRead: arguments, from: 2, "SINCE", "CART", "AT")
            guard options["SINCE"] == nil || options["AT"] == nil else { throw .syntax }
            let cart = try options.identifier("CART")
            if let moment = try options.moment("AT", now: session.server.engine.clock()) {
                return session.replyLater(withPast: .home(of: outlet, cart: cart, at: moment))
            }
            if let revision = try options.count("SINCE") {
                return session.replyLater(withHomeOf: outlet, since: revision, cart)
            }
            let home = try session.server.engine.home(of: outlet)
            let count = try session.server.engine.cartCount(cart)
            session.reply { $0.home(home, count) }
        },
        Command(
            "OUTLET.TAGS", .browsing, role: .customer, "Gives the tag bar of an outlet's home, or null.",
            [.key("outlet")]
        ) { session, arguments throws(Failure) in
            let record = try session.server.engine.outlet(try arguments[1].identifier("outlet"))
            session.reply(document: record.map(HomeDocument.tagBar))
        },
        Command(
            "ITEM.GET", .browsing, role: .customer, "Gives an item in full, large image included, or null.",
            [.key("outlet"), .value("item")]
        ) { session, arguments throws(Failure) in
            let record = try session.server.engine.outlet(try arguments[1].identifier("outlet"))
            let item = try arguments[2].identifier("item")
            session.reply(document: record.flatMap { ItemDocument.bytes(of: item, in: $0) })
        },
        Command(
            "BROWSE", .browsing, role: .customer, "Gives a page of the items that satisfy every filter.",
            ArgumentSpec.filters + ArgumentSpec.options(pages)
        ) { session, arguments throws(Failure) in
            try session.browse(.items, arguments)
        },
        Command(
            "OUTLETS", .browsing, role: .customer, "Gives a page of the outlets that satisfy every filter.",
            ArgumentSpec.filters + ArgumentSpec.options(pages)
        ) { session, arguments throws(Failure) in
            try session.browse(.outlets, arguments)
        },
        Command(
            "SURPRISE", .browsing, role: .customer,
            "Gives one of the items that satisfy every filter, each as likely as any other, or null.",
            ArgumentSpec.filters + ArgumentSpec.options([.seed])
        ) { session, arguments throws(Failure) in
            let catalogue = session.server.engine.catalogue
            let query = try session.query(.items, arguments, [.seed], catalogue)
            session.reply(document: catalogue.surprise(query))
        },
        Command(
            "BROWSE.SAVE", .browsing, role: .customer,
            "Names a question about items whose answer is kept up to date, for SUBSCRIBE; gives the answer.",
            [.key("name")] + ArgumentSpec.filters + ArgumentSpec.options([.sort, .limit])
        ) { session, arguments throws(Failure) in
            let name = try arguments[1].identifier("name")
            let catalogue = session.server.engine.catalogue
            let query = try session.query(.items, arguments, from: 2, [.sort, .limit], catalogue)
            guard catalogue.save(query, as: name) else {
                throw Failure("LIMIT", "at most \(Catalogue.maximumSaved) queries are saved; BROWSE.DROP one")
            }
            session.reply(document: catalogue.document(ofSaved: name)?.bytes)
        },
        Command(
            "BROWSE.DROP", .browsing, role: .customer, "Forgets a saved question; gives how many there were, 1 or 0.",
            [.key("name")]
        ) { session, arguments throws(Failure) in
            let wasThere = session.server.engine.catalogue.drop(try arguments[1].identifier("name"))
            session.reply { $0.integer(wasThere ? 1 : 0) }
        },
    ]

    fileprivate static let pages: [CatalogueQuery.Option] = [.sort, .limit, .after, .facets]
}

extension Session {
    fileprivate func browse(_ kind: ListingKind, _ arguments: Arguments) throws(Failure) {
        let catalogue = server.engine.catalogue
        let query = try query(kind, arguments, BrowsingCommands.pages, catalogue)
        // An outlet without a menu is something else than one where nothing matches.
        let outlet = try query.values["OUTLET"]?.first.flatMap(Identifier.init).flatMap(server.engine.outlet)
        reply(document: catalogue.page(query, emptyState: outlet?.menuVersion == 0 ? "noMenu" : "empty"))
    }

    fileprivate func query(
        _ kind: ListingKind, _ arguments: Arguments, from index: Int = 1, _ options: [CatalogueQuery.Option],
        _ catalogue: Catalogue
    ) throws(Failure) -> CatalogueQuery {
        var words: [String] = []
        for argument in arguments.dropFirst(index) {
            guard let word = argument.string else { throw Failure("INVALID", "a filter is not UTF-8") }
            words.append(word)
        }
        let query: CatalogueQuery
        do throws(CatalogueError) {
            query = try catalogue.query(words, of: kind, options: Set(options))
        } catch {
            throw Failure(error)
        }
        for outlet in query.values["OUTLET"] ?? [] {
            guard let id = Identifier(outlet), try server.engine.outlet(id) != nil else {
                throw Failure("NOTFOUND", "no outlet '\(outlet)'")
            }
        }
        return query
    }
}

extension Failure {
    fileprivate init(_ error: CatalogueError) {
        switch error {
        case .syntax(let detail): self.init("ERR", "syntax error: \(detail)")
        case .invalid(let name, let reason): self = .invalid(name, reason)
        }
    }
}

extension ArgumentSpec {
    /// Every registered filter.
    fileprivate static let filters = Filter.all.map { filter in
        ArgumentSpec(
            name: filter.values.isEmpty ? filter.name.lowercased() : filter.values,
            kind: filter.values.isEmpty ? .pureToken : .string, token: filter.name, isOptional: true,
            isRepeated: filter.isRepeatable)
    }

    fileprivate static func options(_ options: [CatalogueQuery.Option]) -> [ArgumentSpec] {
        options.map {
            ArgumentSpec(
                name: $0.value.isEmpty ? $0.rawValue.lowercased() : $0.value,
                kind: $0.value.isEmpty ? .pureToken : .string, token: $0.rawValue, isOptional: true,
                isRepeated: false)
        }
    }
}

extension Session {
    /// Answers with what has changed in an outlet's home, as soon as it is known.
    fileprivate func replyLater(withHomeOf outlet: Identifier, since revision: Int64, _ cart: Identifier?) {
        let promise = promise(about: .outlet)
        let server = server
        let engine = server.engine
        engine.update(of: outlet, since: revision) { result in
            do throws(Failure) {
                let update = try result.get()
                let count = try engine.cartCount(cart)
                promise.fulfil { replies in
                    switch update {
                    case .patch(let from, let to, let patch):
                        replies.change(of: outlet, from, to, server.configuration.sent(patch), count)
                    case .whole(let home): replies.home(home, count)
                    case nil: replies.null()
                    }
                }
            } catch {
                promise.fail(error)
            }
        }
    }
}

extension Engine {
    /// The count of a cart, if one is asked for.
    fileprivate func cartCount(_ cart: Identifier?) throws(Failure) -> Int? {
        guard let cart else { return nil }
        return try count(of: cart)
    }
}

extension ReplyBuffer {
    /// A home, with the count of a cart.
    fileprivate mutating func home(_ home: Home?, _ count: Int?) {
        guard let home else { return null() }
        bulk(home.document.dropLast(), followedBy: count.map { ",\"cartCount\":\($0)}" } ?? "}")
    }

    /// What has changed in a home; null for nothing. A revision says nothing of a cart, so its count is always
    /// there.
    fileprivate mutating func change(
        of outlet: Identifier, _ from: Int64, _ to: Int64, _ patch: [UInt8], _ count: Int?
    ) {
        guard from != to || count != nil else { return null() }
        let patch = count.map { ChangeDocument.patch(patch, settingCartCount: $0) } ?? patch
        bulk(ChangeDocument.bytes(of: outlet, named: "outlet", from: from, to: to, patch: patch))
    }
}
