internal import CommandLineOptions
internal import Domain
internal import EventLog
internal import EventLoop
internal import PostgresStorage

enum ForgetCommand: Subcommand {
    static let name = "forget"
    static let summary = "destroys the keys of customers, so that nobody can read their texts any more"

    static let operands = ["<customer>…"]
    static let options = Database.options

    static let about: String? = """
        Notes on carts and names on orders that were given with CUSTOMER are encrypted with a key of that
        customer's. This destroys it, at once, for every server and for good: the texts show as [erased], in
        the past as well, and nothing is taken in this customer's name any more. What was ordered, and the
        customer's id, stay in the log; digests and receipts hold as before. Works beside a running server.

        Afterwards the table of keys is rewritten, and meanwhile commands with CUSTOMER wait. Name all customers
        who are to be forgotten at once: the table is then rewritten once.

        Backups of the database and archived WAL have the key until they expire: that is for you to see to.
        """

    static func run(_ options: Options) async throws -> ExitCode {
        let customers = options.operands.compactMap { Identifier($0) }
        guard !customers.isEmpty, customers.count == options.operands.count else {
            throw UsageError("name a customer, by the id that CUSTOMER was given")
        }
        try await Database.run(options, log: { Terminal.printError("tiffin: \($0)") }, besideServer: true) {
            report(try await $0.forget(Set(customers), for: .operator))
        }
        return .success
    }

    private static func report(_ forgetting: Forgetting) {
        for outcome in forgetting.outcomes { Terminal.print("\(outcome)") }
        guard forgetting.outcomes.contains(where: \.wasKnown) else { return }
        if let remainder = forgetting.remainder {
            Terminal.print(
                "The table's file may still have the old bytes: \(remainder). Run this again later to remove them.")
        } else {
            Terminal.print("The table was rewritten without the old bytes.")
        }
        Terminal.print("Backups and archived WAL from before still have the key, until they expire.")
    }
}
