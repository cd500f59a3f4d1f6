internal import Application
internal import CommandLineOptions
internal import Domain
internal import EventLoop
internal import LineClient
internal import LineProtocol
internal import TextFormats

enum TakingsCommand: Subcommand {
    static let name = "takings"
    static let summary = "prints what an outlet sold, took back, gave back and was paid, by days"

    static let operands = ["<outlet>"]
    static let options: [any DeclaredOption] = [first, last, csv, server] + ConnectionOptions.declarations

    static let about: String? = """
        Asks a running server, and prints a table of days. With --csv each line is a sum: its day, how orders were
        had, what became of the money (sold, changed, cancelled, refunded or paid), what it is for, of a tax its id and
        rate in thousandths of a percent, of how many orders, refunds or reports it is, what a tax was taken of, and the
        amount; there amounts are in minor units. What was recorded counts on the day when it was.
        """

    private static let first = Option.optional("from", "day", "the first day, such as 2026-03-01", day)
    private static let last = Option.optional("until", "day", "the last day (default the first one)", day)
    private static let csv = Option.flag("csv", "prints every sum as comma-separated values")
    private static let server = Option.value(
        "server", "host:port", "where the server listens", OptionValue("host:port") { ServerAddress($0) },
        default: "\(ServerAddress.standard)", variable: "TIFFIN_SERVER")
    private static let day = OptionValue("a day such as 2026-03-01") { CalendarDay(Text($0)) }

    static func run(_ options: Options) async throws -> ExitCode {
        guard options.operands.count == 1, let outlet = options.operands.first else {
            throw UsageError("name an outlet")
        }
        guard let begin = options[first] else { throw UsageError("give the first day, as --from 2026-03-01") }
        let end = options[last] ?? begin
        guard begin <= end else { throw UsageError("--until must not come before --from") }
        let client = try await Client.connect(to: try ConnectionOptions(options).server(at: options[server]))
        defer { client.close() }
        let table = options[csv] ? TakingsTable.csv : TakingsTable.plain
        var next = begin
        while next <= end {
            // No answer has more days.
            let last = min(end, next.advanced(by: BusinessDays.maximum - 1))
            let reply = try await client.ask(["TAKINGS", outlet, "FROM", next.text, "UNTIL", last.text])
            if case .error(let code, let message) = reply { throw Refusal(description: "\(code) \(message)") }
            guard case .bulk(let bytes) = reply, case let takings = try JSONValue(bytes),
                let currency = takings["currency"]?.text.flatMap(Currency.init)
            else { throw Refusal(description: "the server answers \(reply.summary)") }
            if next == begin { table.print(table.heading) }
            for day in takings["days"]?.elements ?? [] {
                for line in table.lines(day, currency) { table.print(line) }
            }
            next = last.advanced(by: 1)
        }
        return .success
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }
}

/// How days are printed.
private struct TakingsTable: Sendable {
    let isOfRecords: Bool
    let heading: String
    let lines: @Sendable (_ day: JSONValue, _ currency: Currency) -> [String]

    static let plain = TakingsTable(
        isOfRecords: false,
        heading: columns("day", ["orders", "sold", "changed", "cancelled", "refunded", "net", "of it tax", "captured"])
    ) { day, currency in
        func sum(_ movement: String, _ field: String) -> Int64 {
            (day["services"]?.elements ?? []).reduce(0) { $0 + ($1[movement]?[field]?.integer ?? 0) }
        }
        let net = day["net"]
        let tax = (net?["taxes"]?.elements ?? []).reduce(Int64(0)) { $0 + ($1["amount"]?.integer ?? 0) }
        let amounts = [
            sum("sold", "total"), sum("changed", "total"), sum("cancelled", "total"), sum("refunded", "total"),
            net?["total"]?.integer ?? 0, tax,
            day["payments"]?["captured"]?["amount"]?.integer ?? 0,
        ]
        let words = amounts.map { Amount(minorUnits: $0).majorUnits(of: currency) }
        return [columns(day["day"]?.text ?? "", ["\(sum("sold", "count"))"] + words)]
    }

    static let csv = TakingsTable(isOfRecords: true, heading: "day,service,of,kind,tax,rate,by,count,base,amount") {
        day, _ in
        var lines: [String] = []
        func add(
            _ service: String, _ movement: String, _ kind: String, tax: JSONValue? = nil, by payer: String = "",
            count: Int64? = nil,
            _ amount: Int64
        ) {
            let fields = [
                day["day"]?.text ?? "", service, movement, kind, tax?["id"]?.text ?? "",
                tax?["rate"]?.integer.map(String.init) ?? "", payer, count.map(String.init) ?? "",
                tax?["base"]?.integer.map(String.init) ?? "", String(amount),
            ]
            lines.append(fields.joined(separator: ","))
        }
        for part in day["services"]?.elements ?? [] {
            let service = part["service"]?.text ?? ""
            for movement in ["sold", "changed", "cancelled", "refunded"] {
                guard case .object(let members)? = part[movement] else { continue }
                let count = part[movement]?["count"]?.integer
                for member in members where member.key != "count" {
                    if let amount = member.value.integer {
                        add(service, movement, member.key, count: member.key == "total" ? count : nil, amount)
                    }
                    if member.key == "discounts" {
                        for part in member.value.elements {
                            add(
                                service, movement, "discount", by: part["by"]?.text ?? "", part["amount"]?.integer ?? 0)
                        }
                        continue
                    }
                    for tax in member.value.elements {
                        add(service, movement, "tax", tax: tax, tax["amount"]?.integer ?? 0)
                    }
                }
            }
        }
        if case .object(let payments)? = day["payments"] {
            for kind in payments {
                add("", "paid", kind.key, count: kind.value["count"]?.integer, kind.value["amount"]?.integer ?? 0)
            }
        }
        return lines
    }

    func print(_ line: String) {
        if isOfRecords { Terminal.print(record: line) } else { Terminal.print(line) }
    }

    private static func columns(_ first: String, _ rest: [String]) -> String {
        first.padded(to: 10) + rest.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
    }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
    fileprivate var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }
    fileprivate var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
