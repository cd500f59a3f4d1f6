import TextFormats

/// The numbers of a cart's document, or of its quote.
enum CartReader {
    struct Cart {
        var version: Int64 = 0
        var count: Int64 = 0
        var total: Int64 = 0
        var tip: Int64 = 0
        var charges: [Bill.Charge] = []
        var customer: String?
        var order: String?
        /// The digest of a quote.
        var quote: String?
    }

    static func read(_ document: [UInt8]) -> Cart? {
        guard let value = try? JSONValue(document), let version = value["version"]?.integer,
            let total = value["total"]?.integer, case .array(let lines)? = value["lines"]
        else { return nil }
        let quantities = lines.compactMap { $0["quantity"]?.integer }
        guard quantities.count == lines.count else { return nil }
        let count = quantities.reduce(0, +)
        if let said = value["count"]?.integer, said != count { return nil }
        guard let charges = ChargeReader.read(value["charges"]) else { return nil }
        return Cart(
            version: version, count: count, total: total, tip: value["tip"]?.integer ?? 0, charges: charges,
            customer: value["customer"]?.word, order: value["order"]?.word, quote: value["quote"]?.word)
    }
}

/// The charges of a cart, a quote or an order.
enum ChargeReader {
    static func read(_ value: JSONValue?) -> [Bill.Charge]? {
        guard case .array(let charges)? = value else { return value == nil ? [] : nil }
        let read = charges.compactMap { charge -> Bill.Charge? in
            guard let kind = charge["kind"]?.word, let amount = charge["amount"]?.integer,
                case .bool(let isIncluded)? = charge["included"], case .array(let shares)? = charge["shares"]
            else { return nil }
            return Bill.Charge(
                kind: kind, id: charge["id"]?.word, amount: amount, isIncluded: isIncluded,
                shares: shares.compactMap(\.integer), rate: charge["rate"]?.integer,
                bases: charge["bases"]?.integers ?? [])
        }
        return read.count == charges.count ? read : nil
    }
}

/// What documents about outlets say.
enum OutletReader {
    /// The outlets of `OUTLETS`, each with its status.
    static func list(_ document: [UInt8]) -> [String: String]? {
        guard case .array(let outlets)? = (try? JSONValue(document))?["items"] else { return nil }
        var read: [String: String] = [:]
        for outlet in outlets {
            guard let id = outlet["id"]?.word, let status = outlet["status"]?.word, read[id] == nil else { return nil }
            read[id] = status
        }
        return read
    }
}

/// What documents about orders say.
enum OrderReader {
    /// An order in a list.
    struct Entry: Equatable {
        var order: String
        var version: Int64
        var status: String
    }

    /// The orders of `KITCHEN` and of `ORDERS`.
    static func list(_ document: [UInt8]) -> [Entry]? {
        guard case .array(let orders)? = (try? JSONValue(document))?["orders"] else { return nil }
        let entries = orders.compactMap { order -> Entry? in
            guard let id = order["order"]?.word, let version = order["version"]?.integer,
                let status = order["status"]?.word
            else { return nil }
            return Entry(order: id, version: version, status: status)
        }
        return entries.count == orders.count ? entries : nil
    }

    /// The version of `ORDER.GET`'s document, and what ``OrderModel/shown`` has.
    static func read(_ document: [UInt8]) -> (version: Int64, shown: [String: String])? {
        guard let order = try? JSONValue(document), let version = order["version"]?.integer,
            case .array(let lines)? = order["lines"], let charges = ChargeReader.read(order["charges"])
        else { return nil }
        var shown: [String: String] = [:]
        for name in OrderModel.members {
            let value = name.split(separator: ".").reduce(Optional(order)) { $0?[String($1)] }
            shown[name] = value?.word ?? value?.integer.map { "\($0)" }
        }
        if case .array(let doubts)? = order["payment"]?["doubt"] {
            shown["payment.doubt"] = doubts.map { doubt in
                ["ref", "kind", "why"].map { doubt[$0]?.word ?? "nothing" }.joined(separator: " ")
            }.joined(separator: ", ")
        }
        shown["charges"] = charges.map(\.text).joined(separator: ", ")
        if case .array(let taxes)? = order["refundedTaxes"] {
            shown["refundedTaxes"] = taxes.map { tax in
                [tax["id"]?.word ?? "-"]
                    + [tax["rate"], tax["base"], tax["amount"]].map { "\($0?.integer ?? -1)" }
            }.map { $0.joined(separator: " ") }.joined(separator: ", ")
        }
        for line in lines {
            guard let id = line["line"]?.word, let quantity = line["quantity"]?.integer,
                let price = line["unitPrice"]?.integer, let total = line["total"]?.integer
            else { return nil }
            let back = line["refunded"]?.integer.map { ", \($0) given back" } ?? ""
            shown[id] = "\(quantity) at \(price) = \(total)\(back)"
        }
        return (version, shown)
    }
}

extension JSONValue {
    fileprivate var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }
    fileprivate var integers: [Int64] { if case .array(let list) = self { list.compactMap(\.integer) } else { [] } }
    fileprivate var word: String? { if case .string(let text) = self { text } else { nil } }
}
