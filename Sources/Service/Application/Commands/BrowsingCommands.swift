internal import Catalogue
internal import Domain
internal import EventLog
internal import Projections
package import TextFormats
internal import Users

/// What customers look at.
enum BrowsingCommands {
    static let all = homes + queries

    private static let homes: [Command] = [
        Command(
            "OUTLET.HOME", .browsing, role: .customer,
            answers: HomeDocument.schema.or(ChangeDocument.ofHome), refusing: [.notFound],
            "Returns an outlet's home, now or as of a moment: sections, tag bar and carousels, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let revision = parameters.option("SINCE", "revision", .count)
            let cart = parameters.option("CART", "cart", .cart)
            let moment = parameters.option("AT", "moment", .moment)
            return { service, call throws(Failure) in
                let (outlet, cart, since) = (try call[outlet], try call[cart], try call[revision])
                if let moment = try service.moment(try call[moment]) {
                    guard since == nil else { throw .syntax("SINCE and AT exclude each other") }
                    return service.past(.home(of: outlet, cart: cart, at: moment), for: call.caller, within: nil)
                }
                if let since { return service.update(of: outlet, since: since, cart, for: call.caller) }
                let home = try service.home(of: outlet)
                guard let cart else { return .answer(Answer(home, count: nil)) }
                return try service.count(of: cart).map { Answer(home, count: $0.integer) }
            }
        },
        Command(
            "OUTLET.TAGS", .browsing, role: .customer, answers: HomeDocument.tagBarSchema.orNull,
            "Returns the tag bar of an outlet's home, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                .answer(Answer(try service.outlet(try call[outlet]).map(HomeDocument.tagBar)))
            }
        },
        Command(
            "SLOTS", .browsing, role: .customer,
            answers: SlotsDocument.schema, refusing: [.notFound],
            "Returns the times of a day that orders at an outlet can be placed ahead for."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let kind = parameters.option("SERVICE", "service", .service)
            let date = parameters.option("DATE", "day", .day)
            return { service, call throws(Failure) in
                let (outlet, kind, date) = (try call[outlet], try call[kind], try call[date])
                guard let record = try service.outlet(outlet), let (details, _) = record.details else {
                    throw .noOutlet(outlet)
                }
                let rules = try service.knownRules(of: details)
                if let kind, details.services[kind] == nil {
                    throw .invalid("SERVICE", "is none that outlet '\(outlet)' offers")
                }
                let document = SlotsDocument(of: record, kind, date, at: service.now, in: rules) {
                    service.taken(.slot($0), at: outlet)
                }
                return .answer(.document(document.bytes))
            }
        },
        Command(
            "ITEM.GET", .browsing, role: .customer,
            answers: ItemDocument.schema.or(ChangeDocument.ofDigests),
            "Returns an item in full, with its large image, or what has changed in it, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            let since = parameters.option("SINCE", "digest", .documentDigest)
            return { service, call throws(Failure) in
                let item = try call[item]
                let record = try service.outlet(try call[outlet])
                let document = record.flatMap { ItemDocument.bytes(of: item, in: $0) }
                return service.response(document, since: try call[since])
            }
        },
    ]

    private static let pages: [CatalogueQuery.Option] = [.sort, .limit, .after, .facets, .since]
    private static let windows: [CatalogueQuery.Option] = [.sort, .from, .count, .limit]
    fileprivate static let firstRows: [CatalogueQuery.Option] = [.sort, .limit]

    private static let queries: [Command] = [
        Command(
            "BROWSE", .browsing, role: .customer,
            answers: Catalogue.pageSchema(of: .items).or(ChangeDocument.ofDigests), refusing: [.notFound],
            "Returns a page of the items that match every filter."
        ) { parameters in
            let query = parameters.query(pages)
            return { service, call throws(Failure) in
                try service.page(of: .items, call[query], pages)
            }
        },
        Command(
            "OUTLETS", .browsing, role: .customer,
            answers: Catalogue.pageSchema(of: .outlets).or(ChangeDocument.ofDigests), refusing: [.notFound],
            "Returns a page of the outlets that match every filter."
        ) { parameters in
            let query = parameters.query(pages)
            return { service, call throws(Failure) in
                try service.page(of: .outlets, call[query], pages)
            }
        },
        Command(
            "SURPRISE", .browsing, role: .customer,
            answers: Catalogue.schema(of: .items).orNull, refusing: [.notFound],
            "Returns one of the items that match every filter, each equally likely, or null."
        ) { parameters in
            let query = parameters.query([.seed])
            return { service, call throws(Failure) in
                let catalogue = try service.catalogue
                return .answer(
                    Answer(catalogue.surprise(try service.query(.items, call[query], [.seed], catalogue))))
            }
        },
        save(
            "BROWSE.SAVE", .items,
            "Saves a query about items for SUBSCRIBE, for this connection or as shared:…; returns its answer."),
        save(
            "OUTLETS.SAVE", .outlets,
            "Saves a query about outlets for SUBSCRIBE, for this connection or as shared:…; returns its answer."),
        Command(
            "BROWSE.WINDOW", .browsing, role: .customer,
            "Has a saved query show others of its matches; returns 1, or 0 if there is none."
        ) { parameters in
            let name = parameters.required("name", .savedQuery)
            let from = parameters.required("from", .integer.accepting(CatalogueQuery.Option.from.accepted))
            let count = parameters.required("count", .integer.accepting(CatalogueQuery.Option.count.accepted))
            return { service, call throws(Failure) in
                let (name, from, count) = (try call.savedName(name), try call[from], try call[count])
                let window: Range<Int>
                do throws(CatalogueError) {
                    window = try CatalogueQuery.window(from: from, count: count)
                } catch {
                    throw Failure(error)
                }
                return .answer(.integer(try service.catalogue.move(name, to: window) ? 1 : 0))
            }
        },
        Command(
            "BROWSE.DROP", .browsing, role: .customer, "Deletes a saved query; returns how many there were, 1 or 0."
        ) { parameters in
            let name = parameters.required("name", .savedQuery)
            return { service, call throws(Failure) in
                .answer(.integer(try service.catalogue.drop(try call.savedName(name)) ? 1 : 0))
            }
        },
    ]

    private static func save(_ name: String, _ kind: ListingKind, _ summary: String) -> Command {
        Command(
            name, .browsing, role: .customer, answers: Catalogue.savedSchema(of: kind).orNull, refusing: [.notFound],
            summary
        ) { parameters in
            let name = parameters.required("name", .savedQuery)
            let query = parameters.query(windows)
            return { service, call throws(Failure) in
                let name = try call.savedName(name)
                let query = try service.lastingQuery(kind, call[query], windows)
                let catalogue = try service.catalogue
                guard catalogue.save(query, as: name, for: call.caller.number) else {
                    throw Failure(
                        .limit,
                        "at most \(Catalogue.maximumSaved) queries are saved, \(Catalogue.maximumSavedOfOwner) of them "
                            + "for one user or address; BROWSE.DROP one")
                }
                return .answer(Answer(catalogue.answer(toSaved: name)?.bytes))
            }
        }
    }
}

extension Call {
    /// What the connection means by the name of a saved query.
    fileprivate borrowing func savedName(_ name: Parameter<Identifier>) throws(Failure) -> SavedName {
        SavedName(try self[name], of: client)
    }
}

extension ParameterList {
    /// Filters and the other words of a query, which the catalogue reads by a grammar of its own.
    fileprivate mutating func query(_ options: [CatalogueQuery.Option]) -> RepeatedParameter {
        func description(
            _ token: String, _ values: String, accepting accepted: String, isRepeated: Bool = false,
            default standard: String? = nil
        ) -> ParameterDescription {
            ParameterDescription(
                name: values.isEmpty ? token.lowercased() : values, kind: values.isEmpty ? .pureToken : .string,
                token: token, isOptional: true, isRepeated: isRepeated, accepted: accepted, standard: standard)
        }
        return repeated(
            [description(CatalogueQuery.exclusion, "", accepting: "", isRepeated: true)]
                + Filter.all.map {
                    description($0.name, $0.values, accepting: $0.accepted, isRepeated: $0.isRepeatable)
                }
                + options.map {
                    description($0.rawValue, $0.value, accepting: $0.accepted, default: $0.standard)
                }, of: .catalogue)
    }
}

extension TopicName {
    /// The options of a question whose answer is a topic.
    package static let questionOptions = BrowsingCommands.firstRows.map(\.rawValue)
}

extension Service {
    fileprivate func page(
        of kind: ListingKind, _ words: Arguments.SubSequence, _ options: [CatalogueQuery.Option]
    ) throws(Failure) -> Response {
        let catalogue = try catalogue
        let query = try query(kind, words, options, catalogue)
        // Outlets without a menu are something else than some where nothing matches.
        let versions = try (query.values["OUTLET"] ?? []).map { outlet throws(Failure) in
            try Identifier(outlet.string).flatMap(self.outlet)?.menuVersion
        }
        let hasMenu = versions.isEmpty || versions.contains { $0 != 0 }
        let page = catalogue.page(query, emptyState: hasMenu ? "empty" : "noMenu")
        guard let since = query.since else { return .answer(.document(page.bytes)) }
        try ChangeDocument.check(since: since)
        return change(to: page.bytes, content: page.content, since: Text(since))
    }

    /// The topic of the answer to a question: the first rows of what matches. The answer is kept up to date while
    /// clients listen, once for all that ask the same. If none begins to listen, ``Topics/abandonUnheard(_:)`` ends it.
    ///
    /// - Parameter words: `BROWSE` or `OUTLETS` with filters, `SORT` and `LIMIT`.
    package func topic(of words: Arguments, for caller: Caller) throws(Failure) -> TopicName {
        let kind: ListingKind = words[0].bytes.elementsEqual("OUTLETS".utf8) ? .outlets : .items
        let query = try lastingQuery(kind, words.dropFirst(), BrowsingCommands.firstRows)
        guard let name = try catalogue.follow(query, for: caller.number) else {
            throw Failure(
                .limit,
                "at most \(Catalogue.maximumSaved) questions are followed and queries saved, "
                    + "\(Catalogue.maximumSavedOfOwner) of them for one user or address; ask again")
        }
        return TopicName(question: name.name)
    }

    /// A query whose answer is to be kept up to date.
    fileprivate func lastingQuery(
        _ kind: ListingKind, _ words: Arguments.SubSequence, _ options: [CatalogueQuery.Option]
    ) throws(Failure) -> CatalogueQuery {
        try checkRoom()
        let query = try query(kind, words, options, try catalogue)
        guard !query.lacksCurrency else {
            throw .invalid("PRICE", "needs a CURRENCY, as there is no outlet yet that tells it")
        }
        return query
    }

    fileprivate func query(
        _ kind: ListingKind, _ arguments: Arguments.SubSequence, _ options: [CatalogueQuery.Option],
        _ catalogue: Catalogue
    ) throws(Failure) -> CatalogueQuery {
        var words: [String] = []
        for argument in arguments {
            guard let word = argument.string else { throw Failure(.invalid, "a filter is not UTF-8") }
            words.append(word)
        }
        #if DEBUG
            words = planted(words)
        #endif
        let query: CatalogueQuery
        do throws(CatalogueError) {
            query = try catalogue.query(words, of: kind, options: Set(options))
        } catch {
            throw Failure(error)
        }
        for outlet in query.values["OUTLET"] ?? [] {
            guard let id = Identifier(outlet.string), try self.outlet(id) != nil else {
                throw .noOutlet(outlet)
            }
        }
        return query
    }

    /// What has changed in an outlet's home, as soon as it is known.
    fileprivate func update(
        of outlet: Identifier, since revision: Int64, _ cart: Identifier?, for caller: Caller
    ) -> Response {
        let promise = Promise(about: .outlet)
        update(of: outlet, since: revision, for: caller) { [self] result in
            do throws(Failure) {
                let update = try result.get()
                let count = if let cart { try count(of: cart) } else { Response.answer(.null) }
                let answer: (Answer) -> Answer
                switch update {
                case .patch(let from, let to, let patch):
                    answer = { [self] in Answer(changeOf: outlet, from, to, sent(patch), count: $0.integer) }
                case .whole(let home): answer = { Answer(home, count: $0.integer) }
                // Null would say that nothing has changed.
                case nil: throw .noOutlet(outlet)
                }
                count.map(answer).whenKnown { promise.end($0) }
            } catch {
                promise.fail(error)
            }
        }
        return .promise(promise)
    }
}

extension Answer {
    /// The number, if it is one.
    fileprivate var integer: Int? { if case .integer(let value) = self { Int(value) } else { nil } }

    /// A home, with the count of a cart.
    fileprivate init(_ home: Home?, count: Int?) {
        guard let home else {
            self = .null
            return
        }
        self = .parts(home.document.dropLast(), end: count.map { ",\"cartCount\":\($0)}" } ?? "}")
    }

    /// What has changed in a home; null for nothing. A revision says nothing about a cart, so its count is always
    /// there.
    fileprivate init(changeOf outlet: Identifier, _ from: Int64, _ to: Int64, _ patch: [UInt8], count: Int?) {
        guard from != to || count != nil else {
            self = .null
            return
        }
        let patch = count.map { ChangeDocument.patch(patch, settingCartCount: $0) } ?? patch
        self = .document(ChangeDocument.bytes(of: outlet, named: "outlet", from: from, to: to, patch: patch))
    }
}

extension Failure {
    fileprivate init(_ error: CatalogueError) {
        switch error {
        case .syntax(let detail): self = .syntax(detail)
        case .invalid(let name, let reason): self = .invalid(name, reason)
        }
    }
}
