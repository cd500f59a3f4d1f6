/// What `CART.GET` and `ORDER.GET` answer.
struct CartDocument: Equatable {
    struct Line: Equatable {
        var line: String
        var item: String
        var name: String
        var quantity: Int
        var unitPrice: Int64
        var note: String?
        var total: Int64
        var problem: Problem?
    }

    struct Problem: Equatable {
        var code: String
        var unitPrice: Int64?
    }

    var cart: String
    var order: String?
    var outlet: String?
    var version: Int64
    var status: String
    var count: Int
    var lines: [Line]
    var subtotal: Int64
    var total: Int64

    /// nil where the bytes are no such document.
    init?(_ bytes: [UInt8]) {
        guard let document = JSON(bytes), let cart = document["cart"]?.string,
            let version = document["version"]?.integer, let status = document["status"]?.string,
            let count = document["count"]?.integer, let lines = document["lines"]?.array,
            let subtotal = document["subtotal"]?.integer, let total = document["total"]?.integer
        else { return nil }
        (self.cart, self.version, self.status, self.count) = (cart, version, status, Int(count))
        (self.subtotal, self.total) = (subtotal, total)
        order = document["order"]?.string
        outlet = document["outlet"]?.string
        self.lines = lines.compactMap(CartDocument.line)
        guard self.lines.count == lines.count else { return nil }
    }

    private static func line(_ line: JSON) -> Line? {
        guard let id = line["line"]?.string, let item = line["item"]?.string, let name = line["name"]?.string,
            let quantity = line["quantity"]?.integer, let unitPrice = line["unitPrice"]?.integer,
            let total = line["total"]?.integer, line["options"] == .array([])
        else { return nil }
        let problem = line["problem"].flatMap { problem in
            problem["code"]?.string.map { Problem(code: $0, unitPrice: problem["unitPrice"]?.integer) }
        }
        return Line(
            line: id, item: item, name: name, quantity: Int(quantity), unitPrice: unitPrice,
            note: line["note"]?.string, total: total, problem: problem)
    }
}
