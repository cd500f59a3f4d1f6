internal import Application
internal import CommandLineOptions
internal import EventLoop
internal import LineServer
internal import Serving

/// The options that bound what clients take from each other and from the machine.
enum ServerLimits {
    static let options: [any DeclaredOption] = [
        memory, addressMemory, carts, orders, output, clients, addressClients, rate, addressRate,
    ]

    /// The parts of the process's memory that clients may take.
    private static let clientsPart = 4

    private static let memory = Option.optional(
        "max-memory", "bytes", "the most memory of the process, such as 4gb; half of the machine's if not given",
        .bytes(64 << 20...1 << 50))
    private static let addressMemory = Option.optional(
        "max-memory-per-address", "bytes", "what requests and replies of an address take; half of what all may take",
        .bytes(1 << 20...1 << 50))
    private static let carts = Option.value(
        "carts-in-memory", "count", "about the most carts whose counts are kept at hand", .integer(0...1_000_000_000),
        default: "500000")
    private static let orders = Option.value(
        "orders-in-memory", "count", "about the most orders that are kept at hand once they have ended",
        .integer(0...1_000_000_000), default: "100000")
    private static let output = Option.value(
        "max-output", "bytes", "what may wait for a client to read", .bytes(1 << 20...1 << 30), default: "32mb")
    private static let clients = Option.value(
        "max-clients", "count", "the most clients at once", .integer(1...1_000_000), default: "10000")
    private static let addressClients = Option.value(
        "max-clients-per-address", "count", "the same of one address", .integer(1...1_000_000), default: "10000")
    private static let rate = Option.value(
        "max-rate", "count", "the most commands of a client a second; 0 for any number", .integer(0...1_000_000_000),
        default: "0")
    private static let addressRate = Option.value(
        "max-rate-per-address", "count", "the same of one address", .integer(0...1_000_000_000), default: "0")

    static func apply(_ options: Options, to configuration: inout Configuration, _ line: inout LineConfiguration) {
        configuration.maximumMemory = options[memory] ?? ProcessResources.availableMemory / 2
        configuration.cartsInMemory = options[carts]
        configuration.ordersInMemory = options[orders]
        line.clientMemory = max(1 << 20, configuration.maximumMemory / clientsPart)
        line.clientMemoryOfAddress = options[addressMemory] ?? line.clientMemory / 2
        line.outputLimit = options[output]
        line.maximumClients = options[clients]
        line.maximumClientsOfAddress = options[addressClients]
        line.commandsPerSecond = options[rate]
        line.commandsPerSecondOfAddress = options[addressRate]
    }
}
