internal import Domain
internal import EventLoop
internal import LineProtocol
internal import Projections

/// What customers look at.
enum BrowsingCommands {
    static let all: [Command] = [
        Command(
            "OUTLET.HOME", .browsing, role: .customer,
            "Gives an outlet's home: sections, tag bar and carousels, or null.",
            [.key("outlet"), .optional("cart", token: "CART")]
        ) { session, arguments throws(Failure) in
            let engine = session.server.engine
            let options = try CallOptions(ofRead: arguments, from: 2, "CART")
            let home = try engine.openHome(of: try arguments[1].identifier("outlet"))
            let count = try options.identifier("CART").map { cart throws(Failure) in try engine.count(of: cart) }
            session.reply { replies in
                guard let home else { return replies.null() }
                replies.bulk(home, followedBy: count.map { ",\"cartCount\":\($0)}" } ?? "}")
            }
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
    ]
}
