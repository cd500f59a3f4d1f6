import Application
import Domain
import Testing
import TextFormats
import Users

@testable import LineServer

/// Who may use which command, written down once more.
@Suite struct RoleTests {
    private static let beforeLogin: Set = ["AUTH", "HELLO", "PEER HELLO", "PEER JOIN", "QUIT", "RESET"]
    private static let anybody: Set = [
        "PING", "ECHO", "SELECT", "ACL WHOAMI", "CLIENT ID", "CLIENT GETNAME", "CLIENT SETNAME", "CLIENT SETINFO",
        "CLIENT INFO", "INFO", "TIME", "HELP", "COMMAND", "COMMAND HELP", "COMMAND COUNT", "COMMAND LIST",
        "COMMAND INFO", "COMMAND DOCS", "COMMAND GETKEYS", "COMMAND GETKEYSANDFLAGS", "CLUSTER SLOTS", "CLUSTER SHARDS",
        "CLUSTER NODES", "CLUSTER INFO", "CLUSTER MYID", "CLUSTER KEYSLOT", "ASKING", "READONLY", "READWRITE", "TOKEN",
        "AFTER", "MULTI",
        "EXEC", "DISCARD", "WATCH", "UNWATCH", "OUTLET.GET", "MENU.GET",
        "UNSUBSCRIBE", "CHOOSE", "CHOOSE.SEED", "LOG.SIGNED",
    ]
    private static let reading: Set = [
        "SUBSCRIBE", "OUTLET.HOME", "OUTLET.TAGS", "ITEM.GET", "BROWSE", "OUTLETS", "SURPRISE", "BROWSE.SAVE",
        "BROWSE.DROP", "BROWSE.WINDOW", "OUTLETS.SAVE", "CART.COUNT", "CART.GET", "CART.QUOTE", "ORDER.GET", "ORDERS",
        "SLOTS", "LOG.PROVE", "ORDER.PROVE",
    ]
    private static let ofRole: [Role: Set<String>] = [
        .customer: [
            "CART.ADD", "CART.SET", "CART.EDIT", "CART.REMOVE", "CART.CLEAR", "CART.TIP", "CART.SERVICE", "CART.CODE",
            "CART.UNCODE",
            "CART.CHECKOUT",
        ],
        .parties: ["ORDER.CANCEL", "ORDER.CHANGE", "ORDER.AGREE", "ORDER.DECLINE"],
        .merchant: [
            "OUTLET.PUT", "OUTLET.OPEN", "OUTLET.CLOSE", "OUTLET.PAUSE", "OUTLET.BUSY", "OUTLET.HIDE", "OUTLET.SHOW",
            "OUTLET.REMOVE", "MENU.PUT", "MENU.SECTION.PUT", "MENU.SECTION.REMOVE",
            "MENU.ITEM.PUT", "MENU.ITEM.REMOVE", "MENU.ITEM.PRICE", "MENU.ITEM.SUSPEND",
            "MENU.ITEM.RESUME", "MENU.GROUP.PUT", "MENU.GROUP.REMOVE", "MENU.OPTION.PRICE", "MENU.OPTION.SUSPEND",
            "MENU.OPTION.RESUME", "MENU.FEED.PUT", "MENU.FEED.GET", "ORDER.ACCEPT", "ORDER.REJECT", "ORDER.PREPARE",
            "ORDER.READY", "ORDER.COMPLETE", "ORDER.NOTED", "ORDER.DELAY", "ORDER.PAYMENT", "ORDER.REFUND", "KITCHEN",
            "TAKINGS", "OUTLETS.OWN", "PICTURE.PUT", "MENU.ITEM.STOCK", "MENU.OPTION.STOCK", "STOCK", "PROMO.PUT",
            "PROMO.END",
            "PROMO.GET",
        ],
        .auditor: ["LOG.HEAD", "LOG.READ", "LOG.TREE"],
    ]
    private static let ofAdmins: Set = [
        "CLIENT LIST", "CLIENT KILL", "CONFIG GET", "CONFIG RESETSTAT", "SLOWLOG GET", "SLOWLOG LEN", "SLOWLOG RESET",
        "SLOWLOG HELP", "LATENCY LATEST", "LATENCY HISTORY", "LATENCY RESET", "CLUSTER COUNTKEYSINSLOT",
        "CUSTOMER.FORGET", "PROJECTION.REBUILD", "RELAY.LIST", "USER.LIST", "USER.ADD", "USER.CONFINE", "USER.DISABLE",
        "USER.ENABLE", "USER.REMOVE", "USER.TOKEN",
    ]

    private static let commands = LineCommandTable.shared.commands.map(\.declaration)

    @Test func `Every command is in the lists once`() {
        let lists =
            [Self.beforeLogin, Self.anybody, Self.reading, Self.ofAdmins].map { Array($0) }
            + Self.ofRole.values.map { Array($0) }
        #expect(lists.joined().sorted() == Self.commands.map(\.name).sorted())
    }

    @Test(arguments: commands.map(\.name))
    func `Each role may use a command, or not`(name: String) throws {
        let right = try #require(Self.commands.first { $0.name == name }).right
        let isForAll = Self.beforeLogin.contains(name) || Self.anybody.contains(name) || Self.reading.contains(name)
        #expect(Rights.login.contains(right) == Self.beforeLogin.contains(name), "a stranger")
        for role in [Role.customer, .merchant, .auditor] {
            let isOfParties = role != .auditor && Self.ofRole[.parties]?.contains(name) ?? false
            let mayUse = isForAll || isOfParties || Self.ofRole[role]?.contains(name) ?? false
            #expect(Rights(of: role).contains(right) == mayUse, "\(role)")
        }
        #expect(Rights(of: .admin).contains(right), "an admin")
        #expect(Rights.all.contains(right), "everybody, where there are no users")
    }

    private static func error(_ words: [String], _ role: Role, only id: String) -> String? {
        let confinement = User(Identifier("u")!, role: role, grants: [Identifier(id)!]).confinement
        return Arguments.with(words.map { Array($0.utf8) }) { arguments in
            guard let index = LineCommandTable.shared.index(of: arguments) else { return "unknown" }
            do throws(Failure) {
                _ = try Call(commands[index], arguments, within: confinement)
                return nil
            } catch {
                return error.code.word
            }
        }
    }

    /// A call of the command in which every id is this one.
    private static func call(_ command: CommandDeclaration, _ id: String, withOptions: Bool) -> [String] {
        var words = command.name.split(separator: " ").map(String.init)
        for parameter in command.parameterDescriptions where withOptions || !parameter.isOptional {
            if let token = parameter.token { words.append(token) }
            guard parameter.kind != .pureToken else { continue }
            words.append(parameter.name == "channel" ? "cart:\(id)" : id)
        }
        return words
    }

    /// What a confined customer may use whatever its ids say: outlets are there for every customer, and an order is
    /// looked at before it is shown.
    private static let withoutCarts: Set = [
        "OUTLET.HOME", "OUTLET.TAGS", "SLOTS", "ITEM.GET", "BROWSE", "OUTLETS", "SURPRISE", "ORDER.GET", "ORDER.CANCEL",
        "ORDER.CHANGE", "ORDER.AGREE", "ORDER.DECLINE",
        "ORDERS", "LOG.PROVE", "ORDER.PROVE",
    ]

    @Test(arguments: commands.map(\.name))
    func `A confined customer uses its own, and nothing else`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        guard Rights(of: .customer).contains(command.right), command.role != .anybody else { return }
        let isFree = Self.withoutCarts.contains(name)
        for withOptions in [false, true] {
            let own = Self.error(Self.call(command, "anna-1", withOptions: withOptions), .customer, only: "anna")
            let other = Self.error(Self.call(command, "bert-1", withOptions: withOptions), .customer, only: "anna")
            #expect(own == nil)
            // With their options, OUTLET.HOME names a cart and ORDERS a customer.
            let namesOwn = withOptions && ["OUTLET.HOME", "ORDERS"].contains(name)
            #expect(other == (isFree && !namesOwn ? nil : "NOPERM"))
        }
    }

    /// What is about no outlet, and what asks for all of them, is not for a merchant who is confined.
    private static let ofOutlets: Set = ["OUTLET.HOME", "OUTLET.TAGS", "SLOTS", "ITEM.GET"]

    /// An order's id does not say whose it is: that is decided when the order has been read. What a list is confined
    /// to is decided by its options.
    private static let ofOrders = Set(commands.map(\.name).filter { $0.hasPrefix("ORDER") })

    @Test(arguments: commands.map(\.name))
    func `A confined merchant uses its outlets, and nothing else`(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        guard Rights(of: .merchant).contains(command.right) else { return }
        let own = Self.error(Self.call(command, "grill", withOptions: false), .merchant, only: "grill")
        let other = Self.error(Self.call(command, "bakery", withOptions: false), .merchant, only: "grill")
        if Self.ofOrders.contains(name) || ["OUTLETS.OWN", "LOG.PROVE"].contains(name) {
            #expect(own == nil && other == nil)
        } else if command.role == .merchant || name == "OUTLET.GET" || name == "MENU.GET" {
            #expect(own == nil && other == "NOPERM")
        } else if command.role == .anybody {
            #expect(own == nil && other == nil)
        } else {
            #expect((own == nil) == Self.ofOutlets.contains(name))
            #expect(other == "NOPERM")
        }
    }
}
