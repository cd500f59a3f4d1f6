public import Domain
public import EventLog
public import TextFormats

/// The orders that a kitchen has to do with, as `KITCHEN` answers them.
public enum KitchenDocument {
    /// The most orders that are shown.
    public static let maximumOrders = 500

    /// The document.
    ///
    /// - Parameters:
    ///   - orders: in the order in which they are shown.
    ///   - count: how many there are, shown or not.
    ///   - isFollowed: whether new orders will be among them.
    ///   - texts: decrypts the texts of an order.
    public static func bytes(
        of outlet: Identifier, _ orders: [KitchenOrder], count: Int, isFollowed: Bool, now: Timestamp,
        texts: (TextOwner?) -> TextOpener
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 100 + 400 * orders.count)
        writer.beginObject()
        writer.field("outlet", outlet.rawValue)
        writer.field("count", count)
        writer.key("orders")
        writer.beginArray()
        for order in orders {
            OrderDocument.write(order, now, texts(order.book.textOwner), to: &writer)
        }
        writer.endArray()
        if !isFollowed { writer.field("followed", false) }
        writer.endObject()
        return writer.bytes
    }
}

/// A page of orders, as `ORDERS` answers it.
public enum OrderPageDocument {
    /// The document.
    ///
    /// - Parameter next: the cursor of the next page; nil if there is none.
    public static func bytes(of rows: [OrderRow], next: String?) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 60 + 300 * rows.count)
        writer.beginObject()
        writer.key("orders")
        writer.beginArray()
        for row in rows {
            writer.beginObject()
            writer.field("order", row.order.rawValue)
            writer.field("outlet", row.outlet.rawValue)
            writer.field("customer", row.customer?.rawValue)
            writer.field("version", row.version)
            writer.field("status", row.status.rawValue)
            if let service = row.service { writer.field("service", service.rawValue) }
            writer.field("count", row.count)
            writer.field("currency", row.currency.code)
            writer.field("total", row.total.minorUnits)
            writer.field("tax", row.tax)
            writer.field("refunded", row.refunded)
            writer.field("refundedTax", row.refundedTax)
            writer.field("paid", row.paid)
            writer.field("doubt", row.isInDoubt)
            writer.field("placedAt", row.placedAt.rfc3339)
            writer.field("updatedAt", row.changedAt.rfc3339)
            writer.endObject()
        }
        writer.endArray()
        writer.field("next", next)
        writer.endObject()
        return writer.bytes
    }
}

extension KitchenDocument {
    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("outlet", .identifier), .member("count", .count, "how many orders there are, shown or not"),
        .member("orders", .list(of: OrderDocument.kitchenSchema)),
        .optional("followed", .boolean, "false where new orders will not be among them"),
    ]).named("Kitchen")
}

extension OrderPageDocument {
    private static let row = JSONSchema.object([
        .member("order", .identifier), .member("outlet", .identifier), .member("customer", .identifier.orNull),
        .member("version", .count), .member("status", .words(of: Order.Status.self)),
        .optional("service", .words(of: ServiceKind.self)), .member("count", .count), .member("currency", .string),
        .member("total", .money), .member("tax", .money), .member("refunded", .money), .member("refundedTax", .money),
        .member("paid", .money), .member("doubt", .boolean, "whether a payment was reported that cannot be"),
        .member("placedAt", .time), .member("updatedAt", .time),
    ]).named("OrderRow")

    /// The schema of the document.
    public static let schema = JSONSchema.object([
        .member("orders", .list(of: row)), .member("next", .string.orNull, "what to send as after; null at the end"),
    ]).named("OrderPage")
}
