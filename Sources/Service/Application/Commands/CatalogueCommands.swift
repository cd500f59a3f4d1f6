internal import CommandHandling
internal import Domain
internal import EventLog
internal import Foundation
internal import Projections
internal import TextFormats
internal import Users

/// What merchants do: outlets and menus.
enum CatalogueCommands {
    static let all = outlets + menus

    private static let outlets: [Command] = [
        Command(
            "OUTLET.PUT", .catalogue, role: .merchant, effect: .write(.outlet),
            "Registers an outlet, or changes what differs."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let details = parameters.required("json", .document(OutletInput.self))
            return { service, call throws(Failure) in
                let (outlet, details) = (try call[outlet], try call[details].details)
                try service.checkCurrency(details.currency, of: outlet)
                return try service.submit(StreamName(.outlet, outlet), call) { state, _ in
                    let command = Outlet.Command.put(details)
                    guard case .outlet(let state) = state, command.restsOnMenu(in: state) else {
                        return .outlet(command)
                    }
                    let record = (try? service.outlet(outlet)) ?? nil
                    return .outlet(
                        .put(details, menuTaxes: record?.menuTaxes ?? [:], menuDayparts: record?.menuDayparts ?? [:]))
                }
            }
        },
        Command(
            "OUTLET.OPEN", .catalogue, role: .merchant, effect: .write(.outlet),
            "Lets an outlet take orders, or open and close by its hours."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                try service.submit(StreamName(.outlet, try call[outlet]), call) { state, _ in
                    guard case .outlet(.registered(let details, _, _)) = state, details.follows == .hours,
                        let rules = service.rules(of: details.timeZone)
                    else { return .outlet(.open) }
                    let hours = details.hours(at: service.now, in: rules)
                    return .outlet(.openByHours(isOpen: hours.isOpen, opensAt: hours.opensAt))
                }
            }
        },
        change("OUTLET.CLOSE", .close, "Stops an outlet from taking orders."),
        Command(
            "OUTLET.PAUSE", .catalogue, role: .merchant, effect: .write(.outlet),
            "Stops an outlet from taking orders until a time."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let until = parameters.requiredOption("UNTIL", "time", .time)
            let reason = parameters.option("REASON", "text", .note)
            return { service, call throws(Failure) in
                let (until, reason) = (try call[until], try call[reason])
                return try service.submit(StreamName(.outlet, try call[outlet]), call) { _, _ in
                    .outlet(.pause(until: until, reason: reason, now: service.now))
                }
            }
        },
        Command(
            "OUTLET.BUSY", .catalogue, role: .merchant, effect: .write(.outlet),
            "Promises orders some minutes later than usual until a time, or as usual again."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let minutes = parameters.requiredOption(
                "DELAY", "minutes", .integer(0...Int64(OutletDetails.maximumPrepMinutes)))
            let until = parameters.option("UNTIL", "time", .time)
            return { service, call throws(Failure) in
                let (minutes, until) = (Int(try call[minutes]), try call[until])
                return try service.submit(StreamName(.outlet, try call[outlet]), call) { _, _ in
                    .outlet(.slow(minutes: minutes, until: until, now: service.now))
                }
            }
        },
        change("OUTLET.HIDE", .hide, "Keeps an outlet out of lists and searches."),
        change("OUTLET.SHOW", .show, "Puts a hidden outlet back into lists and searches."),
        change("OUTLET.REMOVE", .remove, "Removes an outlet for good. Its history stays."),
        Command(
            "OUTLET.GET", .catalogue, role: .anybody, answers: OutletDocument.schema.orNull,
            "Returns an outlet's details, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                .answer(Answer(try service.outlet(try call[outlet]).map(OutletDocument.bytes)))
            }
        },
        Command(
            "OUTLETS.OWN", .catalogue, role: .merchant,
            answers: OwnOutletsDocument.schema,
            "Returns a page of the outlets that the caller may change, with their orders and what today brought."
        ) { parameters in
            let cursor = parameters.option("AFTER", "outlet", .outlet)
            let count = parameters.option("COUNT", "count", .integer(1...maximumCount), default: 20)
            return { service, call throws(Failure) in
                let (after, count, confinement) = (try call[cursor], Int(try call[count]), call.confinement)
                let found = service.outlets(count + 1) { id in
                    (after.map { $0 < id } ?? true) && (confinement?.allows(id, as: .outlet) ?? true)
                }
                let page = OwnOutletsDocument(found.prefix(count), hasNext: found.count > count, service)
                return .answer(.document(page.bytes))
            }
        },
        Command(
            "PICTURE.PUT", .catalogue, role: .merchant, effect: .maintenance,
            answers: AdministrationDocuments.picture,
            "Stores a picture for an outlet's menu; returns the path at which it is served."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let picture = parameters.required("picture", .picture)
            return { service, call throws(Failure) in
                let (outlet, picture) = (try call[outlet], try call[picture])
                guard try service.outlet(outlet) != nil else { throw .noOutlet(outlet) }
                try service.checkRoom()
                return try service.store(picture, of: outlet, for: call.caller)
            }
        },
    ]

    /// The most outlets of a page.
    private static let maximumCount: Int64 = 100

    /// A command that takes nothing but the outlet.
    private static func change(_ name: String, _ change: Outlet.Command, _ summary: String) -> Command {
        Command(name, .catalogue, role: .merchant, effect: .write(.outlet), summary) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                try service.submit(StreamName(.outlet, try call[outlet]), call) { _, _ in .outlet(change) }
            }
        }
    }

    private static let menus: [Command] = [
        Command(
            "MENU.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Replaces an outlet's menu, by as few changes as possible."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let menu = parameters.required("json", .document(MenuInput.self))
            return { service, call throws(Failure) in
                let document = try call[menu].document
                return try service.submit(ofMenu: try call[outlet], call) {
                    .put(document, taxes: $0.taxes, dayparts: $0.dayparts)
                }
            }
        },
        Command(
            "MENU.SECTION.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Adds or changes a section of a menu."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let section = parameters.required("section", .identifier)
            let header = parameters.required("json", .document(SectionInput.self))
            let before = parameters.option("BEFORE", "section", .identifier)
            return { service, call throws(Failure) in
                let (section, input) = (try call[section], try call[header])
                guard input.id ?? section == section else { throw .invalid("id", "is not the section's id") }
                guard input.items.isEmpty else {
                    throw .invalid("items", "are put one by one with MENU.ITEM.PUT")
                }
                let before = try call[before]
                return try service.submit(ofMenu: try call[outlet], call) {
                    .putSection(input.header(section), before: before, dayparts: $0.dayparts)
                }
            }
        },
        Command(
            "MENU.SECTION.REMOVE", .catalogue, role: .merchant, effect: .write(.menu),
            "Removes a section with its items."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let section = parameters.required("section", .identifier)
            return { service, call throws(Failure) in
                try service.submit(.removeSection(try call[section]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.ITEM.PUT", .catalogue, role: .merchant, effect: .write(.menu), "Adds or changes an item of a menu."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let section = parameters.required("section", .identifier)
            let item = parameters.required("item", .identifier)
            let json = parameters.required("json", .document(ItemInput.self))
            let before = parameters.option("BEFORE", "item", .identifier)
            return { service, call throws(Failure) in
                let (item, input) = (try call[item], try call[json])
                guard input.id ?? item == item else { throw .invalid("id", "is not the item's id") }
                let (section, before) = (try call[section], try call[before])
                return try service.submit(ofMenu: try call[outlet], call) {
                    .putItem(
                        input.item(item), section: section, before: before, taxes: $0.taxes, dayparts: $0.dayparts)
                }
            }
        },
        Command(
            "MENU.ITEM.REMOVE", .catalogue, role: .merchant, effect: .write(.menu), "Removes an item."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            return { service, call throws(Failure) in
                try service.submit(.removeItem(try call[item]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.ITEM.PRICE", .catalogue, role: .merchant, effect: .write(.menu),
            "Sets an item's price, in minor units."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            let price = parameters.required("minor", .amount)
            return { service, call throws(Failure) in
                try service.submit(.reprice(try call[item], try call[price]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.ITEM.SUSPEND", .catalogue, role: .merchant, effect: .write(.menu),
            "Marks an item as sold out, until a time or until it is resumed."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            let until = parameters.option("UNTIL", "time", .time)
            return { service, call throws(Failure) in
                let command = Menu.Command.suspend(try call[item], until: try call[until], now: service.now)
                return try service.submit(command, ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.ITEM.RESUME", .catalogue, role: .merchant, effect: .write(.menu),
            "Makes a sold-out item available again."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let item = parameters.required("item", .identifier)
            return { service, call throws(Failure) in
                try service.submit(.resume(try call[item]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.GROUP.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Adds or changes a group of options that items offer."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let group = parameters.required("group", .identifier)
            let json = parameters.required("json", .document(GroupInput.self))
            return { service, call throws(Failure) in
                let (group, input) = (try call[group], try call[json])
                guard input.id ?? group == group else { throw .invalid("id", "is not the group's id") }
                return try service.submit(ofMenu: try call[outlet], call) {
                    .putGroup(input.group(group), taxes: $0.taxes)
                }
            }
        },
        Command(
            "MENU.GROUP.REMOVE", .catalogue, role: .merchant, effect: .write(.menu),
            "Removes a group of options that nothing names."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let group = parameters.required("group", .identifier)
            return { service, call throws(Failure) in
                try service.submit(.removeGroup(try call[group]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.OPTION.PRICE", .catalogue, role: .merchant, effect: .write(.menu),
            "Sets an option's price, in minor units, or its price with a size."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let option = parameters.required("option", .identifier)
            let price = parameters.required("minor", .amount)
            let size = parameters.option("SIZE", "option", .identifier)
            return { service, call throws(Failure) in
                try service.submit(
                    .repriceOption(try call[option], try call[price], size: try call[size]),
                    ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.OPTION.SUSPEND", .catalogue, role: .merchant, effect: .write(.menu),
            "Marks an option as sold out, until a time or until it is resumed."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let option = parameters.required("option", .identifier)
            let until = parameters.option("UNTIL", "time", .time)
            return { service, call throws(Failure) in
                let command = Menu.Command.suspendOption(
                    try call[option], until: try call[until], now: service.now)
                return try service.submit(command, ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.OPTION.RESUME", .catalogue, role: .merchant, effect: .write(.menu),
            "Makes a sold-out option available again."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let option = parameters.required("option", .identifier)
            return { service, call throws(Failure) in
                try service.submit(.resumeOption(try call[option]), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.GET", .catalogue, role: .anybody,
            answers: MenuDocumentJSON.schema.or(ChangeDocument.ofDigests),
            "Returns an outlet's menu, or what has changed in it, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let since = parameters.option("SINCE", "digest", .documentDigest)
            return { service, call throws(Failure) in
                let record = try service.outlet(try call[outlet])
                let document = record.flatMap { $0.menuVersion > 0 ? MenuDocumentJSON.bytes(of: $0) : nil }
                return service.response(document, since: try call[since])
            }
        },
        Command(
            "MENU.FEED.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Records what the source of a menu was found to hold."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            let check = parameters.required("json", .document(FeedInput.self))
            return { service, call throws(Failure) in
                let check = try call[check].check(at: service.now)
                return try service.submit(.checkFeed(check), ofMenu: try call[outlet], call)
            }
        },
        Command(
            "MENU.FEED.GET", .catalogue, role: .merchant,
            answers: FeedDocument.schema.orNull,
            "Returns what the source of a menu was last found to hold, in full, or null."
        ) { parameters in
            let outlet = parameters.required("outlet", .outlet)
            return { service, call throws(Failure) in
                .answer(Answer(try service.outlet(try call[outlet])?.menu.feed.map(FeedDocument.bytes)))
            }
        },
    ]
}

extension Service {
    /// Refuses a currency that is not in ISO 4217, and never was. An outlet that has one from before keeps it.
    fileprivate func checkCurrency(_ currency: Domain.Currency, of outlet: Identifier) throws(Failure) {
        guard !Locale.Currency(currency.code).isISOCurrency else { return }
        guard try self.outlet(outlet)?.details?.0.currency == currency else {
            throw .invalid("currency", "must be an ISO 4217 code such as INR")
        }
    }

    fileprivate func submit(
        _ command: Menu.Command, ofMenu outlet: Identifier, _ call: borrowing Call
    ) throws(Failure) -> Response {
        guard try self.outlet(outlet) != nil else { throw .noOutlet(outlet) }
        return try submit(StreamName(.menu, outlet), call) { _, _ in .menu(command) }
    }

    /// The same for a command with sections, items or options, which may name the outlet's taxes and dayparts.
    ///
    /// - Parameter command: is given these as they are when it is decided.
    fileprivate func submit(
        ofMenu outlet: Identifier, _ call: borrowing Call,
        _ command: @escaping (_ names: (taxes: Set<Identifier>, dayparts: Set<Identifier>)) -> Menu.Command
    ) throws(Failure) -> Response {
        guard try self.outlet(outlet) != nil else { throw Failure(.notFound, "no outlet '\(outlet)'") }
        return try submit(StreamName(.menu, outlet), call) { [self] _, _ in
            let details = (try? self.outlet(outlet))?.details?.details
            let taxes = Set((details?.pricing.taxes ?? []).map(\.id))
            return .menu(command((taxes, Set((details?.dayparts ?? []).map(\.id)))))
        }
    }
}
