internal import CommandHandling
internal import Domain
internal import EventLog
internal import EventLoop
internal import LineProtocol
internal import Projections

/// What merchants do: outlets and menus.
enum CatalogueCommands {
    static let all: [Command] = [
        Command(
            "OUTLET.PUT", .catalogue, role: .merchant, effect: .write(.outlet),
            "Registers an outlet, or changes what differs.",
            [.key("outlet"), .value("json")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let details = try DocumentInput.decode(OutletInput.self, from: arguments[2]).details
            try session.submit(StreamName(.outlet, outlet), arguments, try CallOptions(ofWrite: arguments, from: 3)) {
                _, _ in .outlet(.put(details))
            }
        },
        Command(
            "OUTLET.OPEN", .catalogue, role: .merchant, effect: .write(.outlet), "Lets an outlet take orders.",
            [.key("outlet")]
        ) { session, arguments throws(Failure) in
            try session.submitOutlet(.open, arguments)
        },
        Command(
            "OUTLET.CLOSE", .catalogue, role: .merchant, effect: .write(.outlet), "Lets an outlet take no more orders.",
            [.key("outlet")]
        ) { session, arguments throws(Failure) in
            try session.submitOutlet(.close, arguments)
        },
        Command(
            "OUTLET.PAUSE", .catalogue, role: .merchant, effect: .write(.outlet),
            "Lets an outlet take no orders until a time.",
            [.key("outlet"), .required("time", token: "UNTIL"), .optional("text", token: "REASON")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let options = try CallOptions(ofWrite: arguments, from: 2, "UNTIL", "REASON")
            guard let until = try options.timestamp("UNTIL") else { throw .syntax }
            let reason = try options.text("REASON")
            let clock = session.server.engine.clock
            try session.submit(StreamName(.outlet, outlet), arguments, options) {
                _, _ in .outlet(.pause(until: until, reason: reason, now: clock()))
            }
        },
        Command(
            "OUTLET.GET", .catalogue, role: .anybody, "Gives what an outlet says of itself, or null.", [.key("outlet")]
        ) { session, arguments throws(Failure) in
            let record = try session.server.engine.outlet(try arguments[1].identifier("outlet"))
            session.reply(document: record.map(OutletDocument.bytes))
        },
        Command(
            "MENU.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Makes a menu read like this, by the fewest changes.",
            [.key("outlet"), .value("json")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let document = try DocumentInput.decode(MenuInput.self, from: arguments[2]).document
            try session.submitMenu(outlet, .put(document), arguments, try CallOptions(ofWrite: arguments, from: 3))
        },
        Command(
            "MENU.SECTION.PUT", .catalogue, role: .merchant, effect: .write(.menu),
            "Adds or changes a section of a menu.",
            [.key("outlet"), .value("section"), .value("json"), .optional("section", token: "BEFORE")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let section = try arguments[2].identifier("section")
            let input = try DocumentInput.decode(SectionInput.self, from: arguments[3])
            guard input.id ?? section == section else { throw .invalid("id", "is not that of the section") }
            guard input.items.isEmpty else { throw .invalid("items", "are put one by one with MENU.ITEM.PUT") }
            let options = try CallOptions(ofWrite: arguments, from: 4, "BEFORE")
            let command = Menu.Command.putSection(input.header(section), before: try options.identifier("BEFORE"))
            try session.submitMenu(outlet, command, arguments, options)
        },
        Command(
            "MENU.SECTION.REMOVE", .catalogue, role: .merchant, effect: .write(.menu),
            "Removes a section with its items.",
            [.key("outlet"), .value("section")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let section = try arguments[2].identifier("section")
            try session.submitMenu(
                outlet, .removeSection(section), arguments, try CallOptions(ofWrite: arguments, from: 3))
        },
        Command(
            "MENU.ITEM.PUT", .catalogue, role: .merchant, effect: .write(.menu), "Adds or changes an item of a menu.",
            [
                .key("outlet"), .value("section"), .value("item"), .value("json"),
                .optional("item", token: "BEFORE"),
            ]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let section = try arguments[2].identifier("section")
            let item = try arguments[3].identifier("item")
            let input = try DocumentInput.decode(ItemInput.self, from: arguments[4])
            guard input.id ?? item == item else { throw .invalid("id", "is not that of the item") }
            let options = try CallOptions(ofWrite: arguments, from: 5, "BEFORE")
            let command = Menu.Command.putItem(
                input.item(item), section: section, before: try options.identifier("BEFORE"))
            try session.submitMenu(outlet, command, arguments, options)
        },
        Command(
            "MENU.ITEM.REMOVE", .catalogue, role: .merchant, effect: .write(.menu), "Removes an item.",
            [.key("outlet"), .value("item")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let item = try arguments[2].identifier("item")
            try session.submitMenu(outlet, .removeItem(item), arguments, try CallOptions(ofWrite: arguments, from: 3))
        },
        Command(
            "MENU.ITEM.PRICE", .catalogue, role: .merchant, effect: .write(.menu),
            "Sets an item's price, in minor units.",
            [.key("outlet"), .value("item"), .value("minor", .integer)]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let item = try arguments[2].identifier("item")
            let price = try arguments[3].amount("minor")
            try session.submitMenu(
                outlet, .reprice(item, price), arguments, try CallOptions(ofWrite: arguments, from: 4))
        },
        Command(
            "MENU.ITEM.SUSPEND", .catalogue, role: .merchant, effect: .write(.menu),
            "Marks an item as sold out, until a time or a resume.",
            [.key("outlet"), .value("item"), .optional("time", token: "UNTIL")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let item = try arguments[2].identifier("item")
            let options = try CallOptions(ofWrite: arguments, from: 3, "UNTIL")
            let until = try options.timestamp("UNTIL")
            let now = session.server.engine.clock()
            try session.submitMenu(outlet, .suspend(item, until: until, now: now), arguments, options)
        },
        Command(
            "MENU.ITEM.RESUME", .catalogue, role: .merchant, effect: .write(.menu),
            "Lets a sold-out item be had again.",
            [.key("outlet"), .value("item")]
        ) { session, arguments throws(Failure) in
            let outlet = try arguments[1].identifier("outlet")
            let item = try arguments[2].identifier("item")
            try session.submitMenu(outlet, .resume(item), arguments, try CallOptions(ofWrite: arguments, from: 3))
        },
        Command(
            "MENU.GET", .catalogue, role: .anybody, "Gives an outlet's menu, or null.", [.key("outlet")]
        ) { session, arguments throws(Failure) in
            let record = try session.server.engine.outlet(try arguments[1].identifier("outlet"))
            session.reply(document: record.flatMap { $0.menuVersion > 0 ? MenuDocumentJSON.bytes(of: $0) : nil })
        },
    ]
}

extension Session {
    fileprivate func submitOutlet(_ command: Outlet.Command, _ arguments: Arguments) throws(Failure) {
        let stream = StreamName(.outlet, try arguments[1].identifier("outlet"))
        try submit(stream, arguments, try CallOptions(ofWrite: arguments, from: 2)) { _, _ in .outlet(command) }
    }

    fileprivate func submitMenu(
        _ outlet: Identifier, _ command: Menu.Command, _ arguments: Arguments, _ options: CallOptions
    ) throws(Failure) {
        guard try server.engine.outlet(outlet) != nil else {
            throw Failure("NOTFOUND", "no outlet '\(outlet)'")
        }
        try submit(StreamName(.menu, outlet), arguments, options) { _, _ in .menu(command) }
    }
}
