import LoadOracle

/// The numbers of a cart's document, or of its quote.
enum CartReader {
    struct Cart {
        var version: Int64 = 0
        var count: Int64 = 0
        var total: Int64 = 0
        var tip: Int64 = 0
        var charges = JSON.array([])
        var customer: String?
        var order: String?
        var status = "empty"
        /// The digest of a quote.
        var quote: String?
    }

    static func read(_ document: [UInt8]) -> Cart? {
        guard let value = JSON(document), let version = value["version"]?.integer,
            let total = value["total"]?.integer, let lines = value["lines"]?.array
        else { return nil }
        let quantities = lines.compactMap { $0["quantity"]?.integer }
        guard quantities.count == lines.count else { return nil }
        let count = quantities.reduce(0, +)
        if let said = value["count"]?.integer, said != count { return nil }
        return Cart(
            version: version, count: count, total: total, tip: value["tip"]?.integer ?? 0,
            charges: value["charges"] ?? .array([]),
            customer: value["customer"]?.string, order: value["order"]?.string, status: value["status"]?.string ?? "",
            quote: value["quote"]?.string)
    }
}

/// What `STOCK` says.
struct StockReader {
    var version: Int64
    var left: Claims = [:]
    var held: Claims = [:]

    init?(_ document: [UInt8]) {
        guard let value = JSON(document), let version = value["version"]?.integer, let stock = value["stock"]?.array
        else { return nil }
        self.version = version
        for thing in stock {
            guard let kind = thing["kind"]?.string, let id = thing["id"]?.string, left["\(kind) \(id)"] == nil,
                let left = thing["left"]?.integer, let held = thing["held"]?.integer
            else { return nil }
            self.left["\(kind) \(id)"] = left
            self.held["\(kind) \(id)"] = held
        }
    }
}

/// What documents about outlets say.
enum OutletReader {
    /// The outlets of `OUTLETS`, each with its status.
    static func list(_ document: [UInt8]) -> [String: String]? {
        guard let outlets = JSON(document)?["items"]?.array else { return nil }
        var read: [String: String] = [:]
        for outlet in outlets {
            guard let id = outlet["id"]?.string, let status = outlet["status"]?.string, read[id] == nil else {
                return nil
            }
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

    /// The orders of `KITCHEN` and of `ORDERS`, with their documents.
    static func list(_ document: [UInt8]) -> [(entry: Entry, shown: JSON)]? {
        guard let orders = JSON(document)?["orders"]?.array else { return nil }
        let entries = orders.compactMap { order -> (Entry, JSON)? in
            guard let id = order["order"]?.string, let version = order["version"]?.integer,
                let status = order["status"]?.string
            else { return nil }
            return (Entry(order: id, version: version, status: status), order)
        }
        return entries.count == orders.count ? entries : nil
    }
}
