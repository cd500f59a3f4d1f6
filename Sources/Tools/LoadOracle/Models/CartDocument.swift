/// What `CART.GET` and `ORDER.GET` answer.
struct CartDocument: Equatable {
    struct Line: Equatable {
        var line: Text
        var item: Text
        var name: Text
        var quantity: Int
        var unitPrice: Int64
        var options: [JSON]
        var note: Text?
        var total: Int64
        var problem: Problem?
    }

    struct Problem: Equatable {
        var code: Text
        var unitPrice: Int64?
        var option: Text?
    }

    var cart: Text
    var order: Text?
    var outlet: Text?
    var version: Int64
    var status: Text
    var count: Int
    var lines: [Line]
    var subtotal: Int64
    var charges: [JSON]
    var service: Text?
    var table: Text?
    var time: Text?
    var tip: Int64
    var total: Int64

    /// nil if the bytes are not such a document.
    init?(_ bytes: [UInt8]) {
        guard let document = JSON(bytes), let cart = document["cart"]?.text,
            let version = document["version"]?.integer, let status = document["status"]?.text,
            let count = document["count"]?.integer, let lines = document["lines"]?.array,
            let subtotal = document["subtotal"]?.integer, let total = document["total"]?.integer
        else { return nil }
        (self.cart, self.version, self.status, self.count) = (cart, version, status, Int(count))
        (self.subtotal, self.total) = (subtotal, total)
        order = document["order"]?.text
        outlet = document["outlet"]?.text
        charges = document["charges"]?.array ?? []
        (service, table, time) = (document["service"]?.text, document["table"]?.text, document["for"]?.text)
        tip = document["tip"]?.integer ?? 0
        self.lines = lines.compactMap(CartDocument.line)
        guard self.lines.count == lines.count else { return nil }
    }

    private static func line(_ line: JSON) -> Line? {
        guard let id = line["line"]?.text, let item = line["item"]?.text, let name = line["name"]?.text,
            let quantity = line["quantity"]?.integer, let unitPrice = line["unitPrice"]?.integer,
            let total = line["total"]?.integer, let options = line["options"]?.array
        else { return nil }
        let problem = line["problem"].flatMap { problem in
            problem["code"]?.text.map {
                Problem(code: $0, unitPrice: problem["unitPrice"]?.integer, option: problem["option"]?.text)
            }
        }
        return Line(
            line: id, item: item, name: name, quantity: Int(quantity), unitPrice: unitPrice, options: options,
            note: line["note"]?.text, total: total, problem: problem)
    }
}
