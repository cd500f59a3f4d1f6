// The documents of the API. Written by Scripts/clients from docs/openapi.json.

public struct ArrivalInput: Codable, Equatable, Sendable {
    public var item: String
    public var quantity: Int
    /// Such as large,cheese*2.
    public var options: String?

    public init(item: String, quantity: Int, options: String? = nil) {
        self.item = item
        self.quantity = quantity
        self.options = options
    }
}

public typealias Attributes = [String: AttributesValue]

public enum AttributesValue: Codable, Equatable, Sendable {
    case text(String)
    case number(Double)
    case boolean(Bool)
    case strings([String])
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode([String].self) {
            self = .strings(value)
        } else {
            self = .other(try container.decode(JSON.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .strings(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct BadgeCard: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var model: BadgeModel
}

public struct BadgeModel: Codable, Equatable, Sendable {
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var currency: String
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var label: String?
    public var points: Double?
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasLinks: Bool?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: CardPromotion?
}

public struct Bill: Codable, Equatable, Sendable {
    /// In minor units.
    public var total: Int
    public var digest: String
    public var charges: [Charge]?
    public var lines: [BillLine]?
}

public struct BillLine: Codable, Equatable, Sendable {
    /// Its id in the cart.
    public var line: String
    public var item: String
    public var name: String
    public var quantity: Int
    /// In minor units.
    public var unitPrice: Int
    public var options: [LineOption]
    public var note: String?
    /// In minor units.
    public var total: Int?
}

public struct CancelOrderBy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let customer: CancelOrderBy = "customer"
    public static let merchant: CancelOrderBy = "merchant"
}

public struct CardPromotion: Codable, Equatable, Sendable {
    public var id: String
    public var state: CardPromotionState
    public var code: String?
    public var from: String?
    public var until: String?
}

public struct CardPromotionState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let open: CardPromotionState = "open"
    public static let spent: CardPromotionState = "spent"
    public static let ended: CardPromotionState = "ended"
}

public struct Cart: Codable, Equatable, Sendable {
    public var cart: String
    public var outlet: String?
    public var version: Int
    public var status: CartStatus
    public var count: Int
    public var currency: String?
    public var lines: [CartLine]
    /// In minor units.
    public var subtotal: Int
    /// In minor units.
    public var total: Int
    public var updatedAt: String
    /// Once it is checked out.
    public var charges: [Charge]?
    /// What the customer said, and what became of it.
    public var codes: [CartCode]?
    public var customer: String?
    /// When the order is wanted.
    public var `for`: String?
    /// What it was checked out as.
    public var order: String?
    public var service: CartService?
    public var table: String?
    /// In minor units.
    public var tip: Int?
}

public struct CartCode: Codable, Equatable, Sendable {
    public var code: String
    public var state: CartCodeState
}

public struct CartCodeState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let applied: CartCodeState = "applied"
    public static let minimum: CartCodeState = "minimum"
    public static let nothing: CartCodeState = "nothing"
    public static let later: CartCodeState = "later"
    public static let ended: CartCodeState = "ended"
    public static let spent: CartCodeState = "spent"
    public static let customer: CartCodeState = "customer"
}

public struct CartLine: Codable, Equatable, Sendable {
    /// Its id in the cart.
    public var line: String
    public var item: String
    public var name: String
    public var quantity: Int
    /// In minor units.
    public var unitPrice: Int
    public var options: [LineOption]
    public var note: String?
    /// In minor units.
    public var total: Int?
    /// What keeps it from being ordered as it is.
    public var problem: LineProblem?
}

public struct CartService: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let pickup: CartService = "pickup"
    public static let delivery: CartService = "delivery"
    public static let table: CartService = "table"
}

public struct CartStatus: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let empty: CartStatus = "empty"
    public static let open: CartStatus = "open"
    public static let checkingOut: CartStatus = "checkingOut"
    public static let checkedOut: CartStatus = "checkedOut"
}

public struct Charge: Codable, Equatable, Sendable {
    public var kind: ChargeKind
    /// Below 0 for a discount, in minor units.
    public var amount: Int
    /// Whether other prices have it already.
    public var included: Bool
    /// What falls on each line, then on each charge before the taxes.
    public var shares: [Int]
    /// What a tax was taken of, in minor units.
    public var base: Int?
    /// What a tax was taken of, of each line and charge.
    public var bases: [Int]?
    /// Who pays for a discount.
    public var by: ChargeBy?
    /// Of a tax, its id; of a discount, that of its promotion.
    public var id: String?
    /// What receipts call it.
    public var name: String?
    /// In thousandths of a percent.
    public var rate: Int?
}

public struct ChargeBy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let outlet: ChargeBy = "outlet"
    public static let platform: ChargeBy = "platform"
}

public struct ChargeKind: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let service: ChargeKind = "service"
    public static let smallOrder: ChargeKind = "smallOrder"
    public static let delivery: ChargeKind = "delivery"
    public static let tax: ChargeKind = "tax"
    public static let tip: ChargeKind = "tip"
    public static let discount: ChargeKind = "discount"
}

public struct ChargesInput: Codable, Equatable, Sendable {
    public var delivery: FeeInput?
    public var service: ServiceInput?
    public var smallOrder: FeeInput?

    public init(delivery: FeeInput? = nil, service: ServiceInput? = nil, smallOrder: FeeInput? = nil) {
        self.delivery = delivery
        self.service = service
        self.smallOrder = smallOrder
    }
}

public struct Chip: Codable, Equatable, Sendable {
    public var id: String
    public var section: String
    public var title: String
}

public struct Clients: Codable, Equatable, Sendable {
    /// In the words of CLIENT LIST.
    public var clients: [[String: String]]
}

public struct Daypart: Codable, Equatable, Sendable {
    public var id: String
    public var hours: [OpeningHours]
}

public struct DaypartInput: Codable, Equatable, Sendable {
    public var id: String
    public var hours: [HoursInput]

    public init(id: String, hours: [HoursInput]) {
        self.id = id
        self.hours = hours
    }
}

public struct Debt: Codable, Equatable, Sendable {
    public var by: DebtBy
    public var to: DebtTo
    /// In minor units.
    public var amount: Int
}

public struct DebtBy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let outlet: DebtBy = "outlet"
    public static let customer: DebtBy = "customer"
}

public struct DebtTo: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let outlet: DebtTo = "outlet"
    public static let customer: DebtTo = "customer"
}

public struct Delay: Codable, Equatable, Sendable {
    public var event: String
    /// Milliseconds.
    public var maximum: Int
    public var samples: [DelaySample]
}

public struct Delays: Codable, Equatable, Sendable {
    public var events: [Delay]
}

public struct DelaySample: Codable, Equatable, Sendable {
    public var at: String
    public var milliseconds: Int
}

public struct DessertCard: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var model: DessertModel
}

public struct DessertModel: Codable, Equatable, Sendable {
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var currency: String
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var addButtonAccessibilityId: String
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasLinks: Bool?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: CardPromotion?
}

public struct DessertsSection: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var headerTitle: String
    public var layout: Layout
    public var sticky: Bool
    public var accessibilityId: String
    public var itemAccessibilityPrefix: String
    public var items: [HomeItem]
    public var daypart: String?
}

public struct DiscountSum: Codable, Equatable, Sendable {
    public var by: ChargeBy
    /// In minor units.
    public var amount: Int
}

public struct EarlierTree: Codable, Equatable, Sendable {
    public var size: Int
    public var root: String
    /// Base64.
    public var path: String
}

public struct Ending: Codable, Equatable, Sendable {
    public var by: EndingBy
    public var code: EndingCode
    public var reason: String?
}

public struct EndingBy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let customer: EndingBy = "customer"
    public static let merchant: EndingBy = "merchant"
    public static let system: EndingBy = "system"
}

public struct EndingCode: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let items: EndingCode = "ITEMS"
    public static let closed: EndingCode = "CLOSED"
    public static let busy: EndingCode = "BUSY"
    public static let note: EndingCode = "NOTE"
    public static let customer: EndingCode = "CUSTOMER"
    public static let unpaid: EndingCode = "UNPAID"
    public static let timeout: EndingCode = "TIMEOUT"
    public static let other: EndingCode = "OTHER"
}

public struct Event: Codable, Equatable, Sendable {
    public var partition: Int
    public var position: Int
    public var stream: String
    /// Of the stream.
    public var version: Int
    public var kind: String
    /// Of the kind's payload.
    public var schemaVersion: Int
    /// By kind and schemaVersion, as docs/events.md has it.
    public var payload: [String: JSON]
    public var metadata: EventMetadata
    public var recordedAt: String
}

public struct EventMetadata: Codable, Equatable, Sendable {
    /// Who gave it.
    public var actor: String?
    /// A fingerprint of its arguments, in hexadecimal.
    public var args: String?
    /// What the server did it for: a stream and a version, order-x@3.
    public var cause: String?
    /// What the client says besides, where the actor had logged in.
    public var claim: String?
    /// What commands of one thing share.
    public var flow: String?
    /// The ID of the command.
    public var id: String?
    /// Where it belongs in a trace: a traceparent of W3C Trace Context.
    public var trace: String?
}

public struct FacetBand: Codable, Equatable, Sendable {
    public var from: Double
    public var to: Double
    public var count: Int
}

public struct Facets: Codable, Equatable, Sendable {
    public var areas: [FacetValue]?
    public var cities: [FacetValue]?
    public var cuisines: [FacetValue]?
    public var currencies: [FacetValue]?
    public var deliveryMinutes: NumberFacet?
    public var kinds: [FacetValue]?
    public var prices: NumberFacet?
    public var ratings: NumberFacet?
    public var tags: [FacetValue]?
}

public struct FacetValue: Codable, Equatable, Sendable {
    public var value: String
    public var count: Int
}

public struct Fee: Codable, Equatable, Sendable {
    /// In minor units.
    public var fee: Int
    /// From what subtotal on it is not charged, in minor units.
    public var freeFrom: Int?
    public var tax: String?
}

public struct Feed: Codable, Equatable, Sendable {
    public var state: HomeState
    public var checkedAt: String
    public var refreshedAt: String?
    public var problems: [String]
    public var source: String?
    public var etag: String?
    public var modified: String?
    public var key: String?
}

public struct FeedState: Codable, Equatable, Sendable {
    public var state: HomeState
    public var checkedAt: String
    public var refreshedAt: String?
    public var problems: [String]
}

public struct FeeInput: Codable, Equatable, Sendable {
    /// In minor units.
    public var fee: Int
    /// In minor units.
    public var freeFrom: Int?
    public var tax: String?

    public init(fee: Int, freeFrom: Int? = nil, tax: String? = nil) {
        self.fee = fee
        self.freeFrom = freeFrom
        self.tax = tax
    }
}

public struct Forgetting: Codable, Equatable, Sendable {
    public var customers: [ForgottenCustomer]
    /// What is left to be done, for people.
    public var remainder: String?
}

public struct ForgottenCustomer: Codable, Equatable, Sendable {
    public var customer: String
    public var destroyedKeys: Int
    /// Since when the customer was forgotten already.
    public var forgottenBefore: String?
}

public struct FoundEvents: Codable, Equatable, Sendable {
    public var events: [Event]
    /// How far it was looked.
    public var to: Int
    /// Where to go on; null at the end.
    public var next: Int?
}

public struct FoundItem: Codable, Equatable, Sendable {
    public var outlet: String
    public var item: String
    public var kind: ItemKind
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var currency: String
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var outletName: String
    public var city: String?
    public var area: String?
    /// From 0 to 5.
    public var rating: Double?
    public var deliveryMinutes: Int?
    public var status: OutletStatus
    public var delayedUntil: String?
    public var delayMinutes: Int?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasLinks: Bool?
    public var hasOptions: Bool?
    public var opensAt: String?
    public var pausedUntil: String?
    public var pauseReason: String?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
}

public struct FoundOutlet: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var city: String?
    public var area: String?
    public var address: String?
    public var currency: String
    public var timeZone: String
    public var cuisines: [String]
    /// In minor units.
    public var priceForTwo: Int?
    /// From 0 to 5.
    public var rating: Double?
    public var ratingCount: Int?
    public var deliveryMinutes: Int?
    /// In minor units.
    public var minimumOrder: Int?
    public var hours: [OpeningHours]
    public var status: OutletStatus
    /// Seconds.
    public var acceptWithin: Int?
    public var charges: OutletCharges?
    public var dayparts: [Daypart]?
    /// HH:MM; past midnight the hours go on, 25:30.
    public var dayStarts: String?
    public var delayedUntil: String?
    public var delayMinutes: Int?
    /// What opens and closes it.
    public var follows: OutletFollows?
    public var opensAt: String?
    public var orderAheadDays: Int?
    public var pausedUntil: String?
    public var pauseReason: String?
    public var payment: OutletPayment?
    /// Seconds.
    public var payWithin: Int?
    public var prepMinutes: Int?
    /// The ways to have an order.
    public var services: OutletServices?
    public var slots: SlotRule?
    public var specialDays: [SpecialDay]?
    public var taxes: [Tax]?
    /// Whether prices have the taxes already.
    public var taxIncluded: Bool?
}

public struct Gift: Codable, Equatable, Sendable {
    /// In minor units.
    public var amount: Int?
    /// In thousandths of a percent.
    public var percent: Int?
    /// In minor units.
    public var price: Int?
}

public struct GiftInput: Codable, Equatable, Sendable {
    /// In minor units.
    public var amount: Int?
    /// In thousandths of a percent.
    public var percent: Int?
    /// In minor units.
    public var price: Int?

    public init(amount: Int? = nil, percent: Int? = nil, price: Int? = nil) {
        self.amount = amount
        self.percent = percent
        self.price = price
    }
}

public struct GridLayout: Codable, Equatable, Sendable {
    public var style: String
    /// Of a card.
    public var minimumWidth: Int
}

public struct GroupInput: Codable, Equatable, Sendable {
    public var title: String
    public var options: [OptionInput]
    public var free: Int?
    /// Needed in a menu.
    public var id: String?
    public var max: Int?
    public var min: Int?
    public var setsPrice: Bool?

    public init(
        title: String, options: [OptionInput], free: Int? = nil, id: String? = nil, max: Int? = nil, min: Int? = nil,
        setsPrice: Bool? = nil
    ) {
        self.title = title
        self.options = options
        self.free = free
        self.id = id
        self.max = max
        self.min = min
        self.setsPrice = setsPrice
    }
}

public struct Home: Codable, Equatable, Sendable {
    public var outlet: HomeOutlet
    public var revision: Int
    public var state: HomeState
    public var tagBar: TagBar
    public var sections: [HomeSection]
    /// Where a cart was asked for.
    public var cartCount: Int?
    public var feed: FeedState?
}

public enum HomeItem: Codable, Equatable, Sendable {
    case menuItem(MenuItemCard)
    case promo(PromoCard)
    case dessert(DessertCard)
    case badge(BadgeCard)
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        switch try decoder.word(of: "kind") {
        case "menuItem": self = .menuItem(try MenuItemCard(from: decoder))
        case "promo": self = .promo(try PromoCard(from: decoder))
        case "dessert": self = .dessert(try DessertCard(from: decoder))
        case "badge": self = .badge(try BadgeCard(from: decoder))
        default: self = .other(try JSON(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .menuItem(let value): try container.encode(value)
        case .promo(let value): try container.encode(value)
        case .dessert(let value): try container.encode(value)
        case .badge(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct HomeOutlet: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var city: String?
    public var area: String?
    public var address: String?
    public var currency: String
    public var timeZone: String
    public var cuisines: [String]
    /// In minor units.
    public var priceForTwo: Int?
    /// From 0 to 5.
    public var rating: Double?
    public var ratingCount: Int?
    public var deliveryMinutes: Int?
    /// In minor units.
    public var minimumOrder: Int?
    public var hours: [OpeningHours]
    public var status: OutletStatus
    public var accessibilityId: String
    /// Seconds.
    public var acceptWithin: Int?
    public var charges: OutletCharges?
    public var dayparts: [Daypart]?
    /// HH:MM; past midnight the hours go on, 25:30.
    public var dayStarts: String?
    public var delayedUntil: String?
    public var delayMinutes: Int?
    /// What opens and closes it.
    public var follows: OutletFollows?
    /// Whether no search finds it.
    public var hidden: Bool?
    public var opensAt: String?
    public var orderAheadDays: Int?
    public var pausedUntil: String?
    public var pauseReason: String?
    public var payment: OutletPayment?
    /// Seconds.
    public var payWithin: Int?
    public var prepMinutes: Int?
    /// The ways to have an order.
    public var services: OutletServices?
    public var slots: SlotRule?
    public var specialDays: [SpecialDay]?
    public var taxes: [Tax]?
    /// Whether prices have the taxes already.
    public var taxIncluded: Bool?
}

public enum HomeSection: Codable, Equatable, Sendable {
    case menuItems(MenuItemsSection)
    case promotions(PromotionsSection)
    case desserts(DessertsSection)
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        switch try decoder.word(of: "kind") {
        case "menuItems": self = .menuItems(try MenuItemsSection(from: decoder))
        case "promotions": self = .promotions(try PromotionsSection(from: decoder))
        case "desserts": self = .desserts(try DessertsSection(from: decoder))
        default: self = .other(try JSON(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .menuItems(let value): try container.encode(value)
        case .promotions(let value): try container.encode(value)
        case .desserts(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct HomeState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let ready: HomeState = "ready"
    public static let empty: HomeState = "empty"
    public static let malformed: HomeState = "malformed"
}

public struct HorizontalCardLayout: Codable, Equatable, Sendable {
    public var style: String
    /// Of a card.
    public var width: Int
    /// Of a card.
    public var height: Int
}

public struct HoursInput: Codable, Equatable, Sendable {
    public var day: OpeningHoursDay
    /// HH:MM; past midnight the hours go on, 25:30.
    public var opens: String
    /// HH:MM; past midnight the hours go on, 25:30.
    public var closes: String

    public init(day: OpeningHoursDay, opens: String, closes: String) {
        self.day = day
        self.opens = opens
        self.closes = closes
    }
}

public struct Image: Codable, Equatable, Sendable {
    public var url: String
    public var alt: String?
}

public typealias Information = [String: [String: String]]

public struct Item: Codable, Equatable, Sendable {
    public var outlet: String
    public var section: String
    public var id: String
    public var kind: ItemKind
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var imageLarge: String?
    public var images: [Image]
    public var links: [Link]
    public var maxQuantity: Int?
    /// Its groups.
    public var options: [String]
    public var attributes: Attributes
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var currency: String
    public var combo: Bool?
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var groups: [OptionGroup]?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: String?
    public var tax: String?
}

public struct ItemInput: Codable, Equatable, Sendable {
    public var kind: ItemKind
    public var name: String
    /// As docs/menus.md has them.
    public var attributes: [String: JSON]?
    public var combo: Bool?
    public var cuisine: String?
    public var daypart: String?
    public var description: String?
    /// As an item shows it: then its price is not read.
    public var from: Bool?
    /// Needed in a menu.
    public var id: String?
    public var imageLarge: String?
    public var images: [Image]?
    public var imageSmall: String?
    public var links: [Link]?
    public var maxQuantity: Int?
    /// Its groups.
    public var options: [String]?
    /// In minor units.
    public var price: Int?
    public var prices: ItemInputPrices?
    public var promotion: String?
    public var tags: [String]?
    public var tax: String?

    public init(
        kind: ItemKind, name: String, attributes: [String: JSON]? = nil, combo: Bool? = nil, cuisine: String? = nil,
        daypart: String? = nil, description: String? = nil, from: Bool? = nil, id: String? = nil,
        imageLarge: String? = nil, images: [Image]? = nil, imageSmall: String? = nil, links: [Link]? = nil,
        maxQuantity: Int? = nil, options: [String]? = nil, price: Int? = nil, prices: ItemInputPrices? = nil,
        promotion: String? = nil, tags: [String]? = nil, tax: String? = nil
    ) {
        self.kind = kind
        self.name = name
        self.attributes = attributes
        self.combo = combo
        self.cuisine = cuisine
        self.daypart = daypart
        self.description = description
        self.from = from
        self.id = id
        self.imageLarge = imageLarge
        self.images = images
        self.imageSmall = imageSmall
        self.links = links
        self.maxQuantity = maxQuantity
        self.options = options
        self.price = price
        self.prices = prices
        self.promotion = promotion
        self.tags = tags
        self.tax = tax
    }
}

public struct ItemInputPrices: Codable, Equatable, Sendable {
    /// In minor units.
    public var delivery: Int?
    /// In minor units.
    public var pickup: Int?
    /// In minor units.
    public var table: Int?

    public init(delivery: Int? = nil, pickup: Int? = nil, table: Int? = nil) {
        self.delivery = delivery
        self.pickup = pickup
        self.table = table
    }
}

public struct ItemKind: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let menuItem: ItemKind = "menuItem"
    public static let promo: ItemKind = "promo"
    public static let dessert: ItemKind = "dessert"
    public static let badge: ItemKind = "badge"
}

public struct ItemPage: Codable, Equatable, Sendable {
    /// How many match.
    public var total: Int
    public var items: [FoundItem]
    /// What to send as after; null at the end.
    public var next: String?
    public var facets: Facets?
    public var state: ItemPageState
    /// Texts that would match.
    public var suggestions: [String]?
}

public struct ItemPageState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let ready: ItemPageState = "ready"
    public static let empty: ItemPageState = "empty"
    public static let noMenu: ItemPageState = "noMenu"
}

public struct Kitchen: Codable, Equatable, Sendable {
    public var outlet: String
    /// How many orders there are, shown or not.
    public var count: Int
    public var orders: [KitchenOrder]
    /// False where new orders will not be among them.
    public var followed: Bool?
}

public struct KitchenLine: Codable, Equatable, Sendable {
    public var line: String
    public var item: String
    public var name: String
    public var quantity: Int
    public var options: [LineOption]
    public var note: String?
}

public struct KitchenOrder: Codable, Equatable, Sendable {
    public var order: String
    public var version: Int
    public var status: OrderStatus
    public var late: Bool
    /// Whether its payment fell away.
    public var uncovered: Bool
    public var count: Int
    public var lines: [KitchenLine]
    public var acceptBy: String?
    public var address: String?
    /// Of which nobody took note yet.
    public var changes: [OrderChange]?
    public var customer: String?
    public var ending: Ending?
    /// What to do if something is missing; ask where it is left out.
    public var missing: OrderMissing?
    public var name: String?
    public var payBy: String?
    public var phone: String?
    public var placedAt: String?
    /// What the customer was told.
    public var promisedFor: String?
    public var proposal: OrderChange?
    /// What the kitchen said.
    public var readyBy: String?
    /// When the kitchen sees it.
    public var releaseAt: String?
    public var service: CartService?
    public var table: String?
}

public enum Layout: Codable, Equatable, Sendable {
    case list(ListLayout)
    case horizontalCard(HorizontalCardLayout)
    case grid(GridLayout)
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        switch try decoder.word(of: "style") {
        case "list": self = .list(try ListLayout(from: decoder))
        case "horizontalCard": self = .horizontalCard(try HorizontalCardLayout(from: decoder))
        case "grid": self = .grid(try GridLayout(from: decoder))
        default: self = .other(try JSON(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .list(let value): try container.encode(value)
        case .horizontalCard(let value): try container.encode(value)
        case .grid(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct LayoutInput: Codable, Equatable, Sendable {
    public var style: LayoutInputStyle
    /// Of a card.
    public var height: Int?
    /// Of a card.
    public var minimumWidth: Int?
    /// Of a card.
    public var width: Int?

    public init(style: LayoutInputStyle, height: Int? = nil, minimumWidth: Int? = nil, width: Int? = nil) {
        self.style = style
        self.height = height
        self.minimumWidth = minimumWidth
        self.width = width
    }
}

public struct LayoutInputStyle: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let list: LayoutInputStyle = "list"
    public static let horizontalCard: LayoutInputStyle = "horizontalCard"
    public static let grid: LayoutInputStyle = "grid"
}

public struct LineChange: Codable, Equatable, Sendable {
    public var line: String
    public var name: String
    public var from: Int
    public var to: Int
    /// The line in whose place it is.
    public var replaces: String?
}

public struct LineInput: Codable, Equatable, Sendable {
    public var line: String
    /// What comes in place of the rest.
    public var by: ArrivalInput?
    /// How many are left; needed without by.
    public var quantity: Int?

    public init(line: String, by: ArrivalInput? = nil, quantity: Int? = nil) {
        self.line = line
        self.by = by
        self.quantity = quantity
    }
}

public struct LineOption: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var units: Int
    /// Of one unit, in minor units.
    public var price: Int
    /// How many units cost nothing.
    public var free: Int
}

public struct LineProblem: Codable, Equatable, Sendable {
    public var code: LineProblemCode
    public var availableFrom: String?
    /// When it can be had.
    public var daypart: String?
    public var group: String?
    public var max: Int?
    public var min: Int?
    public var option: String?
    public var tax: String?
    /// What one costs now, in minor units.
    public var unitPrice: Int?
}

public struct LineProblemCode: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let pricechanged: LineProblemCode = "PRICECHANGED"
    public static let soldout: LineProblemCode = "SOLDOUT"
    public static let closed: LineProblemCode = "CLOSED"
    public static let gone: LineProblemCode = "GONE"
    public static let optiongone: LineProblemCode = "OPTIONGONE"
    public static let optionsoldout: LineProblemCode = "OPTIONSOLDOUT"
    public static let choice: LineProblemCode = "CHOICE"
    public static let taxgone: LineProblemCode = "TAXGONE"
}

public struct Link: Codable, Equatable, Sendable {
    /// What it is to the item.
    public var rel: String
    public var url: String
    public var title: String?
}

public struct LinkedBatch: Codable, Equatable, Sendable {
    public var firstPosition: Int
    public var lastPosition: Int
    public var index: Int
    public var size: Int
    public var path: [String]
    public var contentDigest: String
    public var previousChainDigest: String
    public var chainDigest: String
}

public struct LinkedHead: Codable, Equatable, Sendable {
    public var position: Int
    public var digest: String
    public var links: [String]
}

public struct LinkReceipt: Codable, Equatable, Sendable {
    /// The number of its form.
    public var receipt: Int
    public var partitions: Int
    public var event: ProvenEvent
    public var batch: LinkedBatch
    public var head: LinkedHead?
}

public struct ListLayout: Codable, Equatable, Sendable {
    public var style: String
}

public struct LogHead: Codable, Equatable, Sendable {
    public var partition: Int
    public var position: Int
    public var digest: String
}

public struct LogTree: Codable, Equatable, Sendable {
    /// The number of its form.
    public var tree: Int
    public var partition: Int
    public var position: Int
    public var digest: String
    public var size: Int
    public var root: String
    /// Base64.
    public var path: String
    public var since: EarlierTree?
}

public struct Menu: Codable, Equatable, Sendable {
    public var outlet: String
    public var version: Int
    public var sections: [MenuSection]
    /// The source that it is imported from.
    public var feed: FeedState?
    public var groups: [OptionGroup]?
}

public struct MenuInput: Codable, Equatable, Sendable {
    public var sections: [SectionInput]
    public var groups: [GroupInput]?

    public init(sections: [SectionInput], groups: [GroupInput]? = nil) {
        self.sections = sections
        self.groups = groups
    }
}

public struct MenuItem: Codable, Equatable, Sendable {
    public var id: String
    public var kind: ItemKind
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var imageLarge: String?
    public var images: [Image]
    public var links: [Link]
    public var maxQuantity: Int?
    /// Its groups.
    public var options: [String]
    public var attributes: Attributes
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var combo: Bool?
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: String?
    public var tax: String?
}

public struct MenuItemCard: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var model: MenuItemModel
}

public struct MenuItemModel: Codable, Equatable, Sendable {
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var currency: String
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasLinks: Bool?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: CardPromotion?
}

public struct MenuItemsSection: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var headerTitle: String
    public var layout: Layout
    public var sticky: Bool
    public var accessibilityId: String
    public var itemAccessibilityPrefix: String
    public var items: [HomeItem]
    public var daypart: String?
}

public struct MenuOption: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    /// In minor units.
    public var price: Int
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    /// How many units are chosen at first.
    public var `default`: Int?
    /// Groups that it opens.
    public var groups: [String]?
    /// The item that it is, in a combo.
    public var item: String?
    /// The most units; 1 where it is left out.
    public var max: Int?
    /// By the size or the way to have the order.
    public var prices: [String: Int]?
    public var tax: String?
}

public struct MenuSection: Codable, Equatable, Sendable {
    public var id: String
    public var title: String
    public var kind: MenuSectionKind
    public var layout: Layout
    public var sticky: Bool
    public var items: [MenuItem]
    public var daypart: String?
}

public struct MenuSectionKind: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let menuItems: MenuSectionKind = "menuItems"
    public static let promotions: MenuSectionKind = "promotions"
    public static let desserts: MenuSectionKind = "desserts"
}

public struct MovementSum: Codable, Equatable, Sendable {
    public var count: Int
    /// In minor units.
    public var total: Int
    public var taxes: [TaxSum]
    /// In minor units.
    public var delivery: Int?
    public var discounts: [DiscountSum]?
    /// In minor units.
    public var lines: Int?
    /// In minor units.
    public var service: Int?
    /// In minor units.
    public var smallOrder: Int?
    /// In minor units.
    public var tip: Int?
}

public struct NetSum: Codable, Equatable, Sendable {
    /// In minor units.
    public var total: Int
    public var taxes: [TaxSum]
}

public struct NewToken: Codable, Equatable, Sendable {
    public var name: String
    /// Shown this once.
    public var token: String
}

public struct NumberFacet: Codable, Equatable, Sendable {
    public var min: Double?
    public var max: Double?
    public var bands: [FacetBand]
}

public struct OfferedService: Codable, Equatable, Sendable {
    public var charges: OutletCharges?
    public var hours: [OpeningHours]?
    /// In minor units.
    public var minimumOrder: Int?
    public var prepMinutes: Int?
    /// What an order has to have.
    public var requires: [QuoteRequire]?
}

public struct OfferedServiceInput: Codable, Equatable, Sendable {
    public var charges: ChargesInput?
    public var hours: [HoursInput]?
    /// In minor units.
    public var minimumOrder: Int?
    public var prepMinutes: Int?
    public var requires: [QuoteRequire]?

    public init(
        charges: ChargesInput? = nil, hours: [HoursInput]? = nil, minimumOrder: Int? = nil, prepMinutes: Int? = nil,
        requires: [QuoteRequire]? = nil
    ) {
        self.charges = charges
        self.hours = hours
        self.minimumOrder = minimumOrder
        self.prepMinutes = prepMinutes
        self.requires = requires
    }
}

public struct OpeningHours: Codable, Equatable, Sendable {
    public var day: OpeningHoursDay
    /// HH:MM; past midnight the hours go on, 25:30.
    public var opens: String
    /// HH:MM; past midnight the hours go on, 25:30.
    public var closes: String
}

public struct OpeningHoursDay: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let monday: OpeningHoursDay = "monday"
    public static let tuesday: OpeningHoursDay = "tuesday"
    public static let wednesday: OpeningHoursDay = "wednesday"
    public static let thursday: OpeningHoursDay = "thursday"
    public static let friday: OpeningHoursDay = "friday"
    public static let saturday: OpeningHoursDay = "saturday"
    public static let sunday: OpeningHoursDay = "sunday"
}

public struct OpeningPeriod: Codable, Equatable, Sendable {
    /// HH:MM; past midnight the hours go on, 25:30.
    public var opens: String
    /// HH:MM; past midnight the hours go on, 25:30.
    public var closes: String
}

public struct OptionGroup: Codable, Equatable, Sendable {
    public var id: String
    public var title: String
    /// The fewest units to choose.
    public var min: Int
    /// The most.
    public var max: Int
    public var options: [MenuOption]
    /// How many units cost nothing.
    public var free: Int?
    /// Whether the options are the item's sizes, and have its prices.
    public var setsPrice: Bool?
}

public struct OptionInput: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var `default`: Int?
    public var groups: [String]?
    public var item: String?
    public var max: Int?
    /// In minor units.
    public var price: Int?
    /// By the size or the way to have the order.
    public var prices: [String: Int]?
    public var tax: String?

    public init(
        id: String, name: String, `default`: Int? = nil, groups: [String]? = nil, item: String? = nil, max: Int? = nil,
        price: Int? = nil, prices: [String: Int]? = nil, tax: String? = nil
    ) {
        self.id = id
        self.name = name
        self.default = `default`
        self.groups = groups
        self.item = item
        self.max = max
        self.price = price
        self.prices = prices
        self.tax = tax
    }
}

public struct Order: Codable, Equatable, Sendable {
    public var order: String
    public var cart: String
    public var outlet: String
    public var version: Int
    public var status: OrderStatus
    public var count: Int
    public var currency: String
    public var lines: [OrderLine]
    /// In minor units.
    public var subtotal: Int?
    public var charges: [Charge]
    /// In minor units.
    public var total: Int
    public var updatedAt: String
    public var acceptBy: String?
    public var address: String?
    public var changes: [OrderChange]?
    public var customer: String?
    public var ending: Ending?
    /// What to do if something is missing; ask where it is left out.
    public var missing: OrderMissing?
    public var name: String?
    public var payBy: String?
    public var payment: OrderPayment?
    public var phone: String?
    public var placedAt: String?
    /// How it changed.
    public var promise: [PromiseChange]?
    /// What the customer was told.
    public var promisedFor: String?
    /// A change that somebody has to agree to.
    public var proposal: OrderChange?
    /// What the kitchen said.
    public var readyBy: String?
    /// What was given back, in minor units.
    public var refunded: Int?
    /// In minor units.
    public var refundedTax: Int?
    public var refundedTaxes: [RefundedTax]?
    /// When the kitchen sees it.
    public var releaseAt: String?
    public var service: CartService?
    public var table: String?
}

public struct OrderChange: Codable, Equatable, Sendable {
    public var by: EndingBy
    public var change: [LineChange]
    public var before: Bill
    public var after: Bill
    public var declinedBy: OrderChangeDeclinedBy?
    /// What became of it; left out of a proposal.
    public var state: OrderChangeState?
    public var until: String?
}

public struct OrderChangeDeclinedBy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let customer: OrderChangeDeclinedBy = "customer"
    public static let merchant: OrderChangeDeclinedBy = "merchant"
    public static let system: OrderChangeDeclinedBy = "system"
}

public struct OrderChangeInput: Codable, Equatable, Sendable {
    /// What comes in.
    public var add: [ArrivalInput]?
    /// What is left of lines.
    public var lines: [LineInput]?

    public init(add: [ArrivalInput]? = nil, lines: [LineInput]? = nil) {
        self.add = add
        self.lines = lines
    }
}

public struct OrderChangeState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let open: OrderChangeState = "open"
    public static let agreed: OrderChangeState = "agreed"
    public static let declined: OrderChangeState = "declined"
    public static let expired: OrderChangeState = "expired"
    public static let ended: OrderChangeState = "ended"
}

public struct OrderLine: Codable, Equatable, Sendable {
    /// Its id in the cart.
    public var line: String
    public var item: String
    public var name: String
    public var quantity: Int
    /// In minor units.
    public var unitPrice: Int
    public var options: [LineOption]
    public var note: String?
    /// In minor units.
    public var total: Int?
    /// Of how many the money was given back.
    public var refunded: Int?
}

public struct OrderMissing: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let remove: OrderMissing = "remove"
    public static let replace: OrderMissing = "replace"
    public static let ask: OrderMissing = "ask"
    public static let cancel: OrderMissing = "cancel"
}

public struct OrderPage: Codable, Equatable, Sendable {
    public var orders: [OrderRow]
    /// What to send as after; null at the end.
    public var next: String?
}

public struct OrderPayment: Codable, Equatable, Sendable {
    public var state: OrderPaymentState?
    /// In minor units.
    public var authorised: Int
    /// In minor units.
    public var captured: Int
    /// In minor units.
    public var refunded: Int
    /// In minor units.
    public var chargedBack: Int
    /// In minor units.
    public var paid: Int
    /// In minor units.
    public var secured: Int
    /// What the customer has to pay, in minor units.
    public var due: Int
    /// What the outlet has to give back, in minor units.
    public var owed: Int
    public var debt: Debt?
    /// Reports that cannot be.
    public var doubt: [PaymentDoubt]?
}

public struct OrderPaymentState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let authorised: OrderPaymentState = "authorised"
    public static let captured: OrderPaymentState = "captured"
    public static let voided: OrderPaymentState = "voided"
    public static let refunded: OrderPaymentState = "refunded"
    public static let chargedBack: OrderPaymentState = "chargedBack"
    public static let failed: OrderPaymentState = "failed"
}

public struct OrderProof: Codable, Equatable, Sendable {
    /// The version of this form.
    public var proof: Int
    public var order: String
    /// Of each event of the order, in one tree.
    public var receipts: [Receipt]
}

public struct OrderRow: Codable, Equatable, Sendable {
    public var order: String
    public var outlet: String
    public var customer: String?
    public var version: Int
    public var status: OrderStatus
    public var count: Int
    public var currency: String
    /// In minor units.
    public var total: Int
    /// In minor units.
    public var tax: Int
    /// In minor units.
    public var refunded: Int
    /// In minor units.
    public var refundedTax: Int
    /// In minor units.
    public var paid: Int
    /// Whether a payment was reported that cannot be.
    public var doubt: Bool
    public var placedAt: String
    public var updatedAt: String
    public var service: CartService?
}

public struct OrderStatus: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let awaitingPayment: OrderStatus = "awaitingPayment"
    public static let scheduled: OrderStatus = "scheduled"
    public static let placed: OrderStatus = "placed"
    public static let accepted: OrderStatus = "accepted"
    public static let preparing: OrderStatus = "preparing"
    public static let ready: OrderStatus = "ready"
    public static let completed: OrderStatus = "completed"
    public static let rejected: OrderStatus = "rejected"
    public static let cancelled: OrderStatus = "cancelled"
}

public struct Outlet: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var city: String?
    public var area: String?
    public var address: String?
    public var currency: String
    public var timeZone: String
    public var cuisines: [String]
    /// In minor units.
    public var priceForTwo: Int?
    /// From 0 to 5.
    public var rating: Double?
    public var ratingCount: Int?
    public var deliveryMinutes: Int?
    /// In minor units.
    public var minimumOrder: Int?
    public var hours: [OpeningHours]
    public var status: OutletStatus
    public var version: Int
    /// Seconds.
    public var acceptWithin: Int?
    public var charges: OutletCharges?
    public var dayparts: [Daypart]?
    /// HH:MM; past midnight the hours go on, 25:30.
    public var dayStarts: String?
    public var delayedUntil: String?
    public var delayMinutes: Int?
    /// What opens and closes it.
    public var follows: OutletFollows?
    /// Whether no search finds it.
    public var hidden: Bool?
    public var opensAt: String?
    public var orderAheadDays: Int?
    public var pausedUntil: String?
    public var pauseReason: String?
    public var payment: OutletPayment?
    /// Seconds.
    public var payWithin: Int?
    public var prepMinutes: Int?
    /// The ways to have an order.
    public var services: OutletServices?
    public var slots: SlotRule?
    public var specialDays: [SpecialDay]?
    public var taxes: [Tax]?
    /// Whether prices have the taxes already.
    public var taxIncluded: Bool?
}

public struct OutletCharges: Codable, Equatable, Sendable {
    public var delivery: Fee?
    public var service: ServiceCharge?
    public var smallOrder: Fee?
}

public struct OutletFollows: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let commands: OutletFollows = "commands"
    public static let hours: OutletFollows = "hours"
}

public struct OutletInput: Codable, Equatable, Sendable {
    public var name: String
    /// ISO 4217.
    public var currency: String
    /// Of IANA.
    public var timeZone: String
    /// In seconds.
    public var acceptWithin: Int?
    public var address: String?
    public var area: String?
    public var charges: ChargesInput?
    public var city: String?
    public var cuisines: [String]?
    public var dayparts: [DaypartInput]?
    /// HH:MM; past midnight the hours go on, 25:30.
    public var dayStarts: String?
    public var deliveryMinutes: Int?
    public var follows: OutletFollows?
    public var hours: [HoursInput]?
    /// In minor units.
    public var minimumOrder: Int?
    public var orderAheadDays: Int?
    public var payment: OutletPayment?
    /// In seconds.
    public var payWithin: Int?
    public var prepMinutes: Int?
    /// In minor units.
    public var priceForTwo: Int?
    /// From 0 to 5.
    public var rating: Double?
    public var ratingCount: Int?
    public var services: OutletInputServices?
    public var slots: SlotsInput?
    public var specialDays: [SpecialDayInput]?
    public var taxes: [TaxInput]?
    public var taxIncluded: Bool?

    public init(
        name: String, currency: String, timeZone: String, acceptWithin: Int? = nil, address: String? = nil,
        area: String? = nil, charges: ChargesInput? = nil, city: String? = nil, cuisines: [String]? = nil,
        dayparts: [DaypartInput]? = nil, dayStarts: String? = nil, deliveryMinutes: Int? = nil,
        follows: OutletFollows? = nil, hours: [HoursInput]? = nil, minimumOrder: Int? = nil, orderAheadDays: Int? = nil,
        payment: OutletPayment? = nil, payWithin: Int? = nil, prepMinutes: Int? = nil, priceForTwo: Int? = nil,
        rating: Double? = nil, ratingCount: Int? = nil, services: OutletInputServices? = nil, slots: SlotsInput? = nil,
        specialDays: [SpecialDayInput]? = nil, taxes: [TaxInput]? = nil, taxIncluded: Bool? = nil
    ) {
        self.name = name
        self.currency = currency
        self.timeZone = timeZone
        self.acceptWithin = acceptWithin
        self.address = address
        self.area = area
        self.charges = charges
        self.city = city
        self.cuisines = cuisines
        self.dayparts = dayparts
        self.dayStarts = dayStarts
        self.deliveryMinutes = deliveryMinutes
        self.follows = follows
        self.hours = hours
        self.minimumOrder = minimumOrder
        self.orderAheadDays = orderAheadDays
        self.payment = payment
        self.payWithin = payWithin
        self.prepMinutes = prepMinutes
        self.priceForTwo = priceForTwo
        self.rating = rating
        self.ratingCount = ratingCount
        self.services = services
        self.slots = slots
        self.specialDays = specialDays
        self.taxes = taxes
        self.taxIncluded = taxIncluded
    }
}

public struct OutletInputServices: Codable, Equatable, Sendable {
    public var delivery: OfferedServiceInput?
    public var pickup: OfferedServiceInput?
    public var table: OfferedServiceInput?

    public init(
        delivery: OfferedServiceInput? = nil, pickup: OfferedServiceInput? = nil, table: OfferedServiceInput? = nil
    ) {
        self.delivery = delivery
        self.pickup = pickup
        self.table = table
    }
}

public struct OutletPage: Codable, Equatable, Sendable {
    /// How many match.
    public var total: Int
    public var items: [FoundOutlet]
    /// What to send as after; null at the end.
    public var next: String?
    public var facets: Facets?
    public var state: ItemPageState
    /// Texts that would match.
    public var suggestions: [String]?
}

public struct OutletPayment: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let none: OutletPayment = "none"
    public static let first: OutletPayment = "first"
}

/// The ways to have an order.
public struct OutletServices: Codable, Equatable, Sendable {
    public var delivery: OfferedService?
    public var pickup: OfferedService?
    public var table: OfferedService?
}

public struct OutletStatus: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let open: OutletStatus = "open"
    public static let closed: OutletStatus = "closed"
    public static let paused: OutletStatus = "paused"
}

public struct OwnOutlet: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var city: String?
    public var area: String?
    public var currency: String
    public var timeZone: String
    public var status: OutletStatus
    public var version: Int
    public var openOrders: Int
    public var lateOrders: Int
    public var today: Today?
    public var delayedUntil: String?
    public var delayMinutes: Int?
    public var hidden: Bool?
    public var opensAt: String?
    public var pausedUntil: String?
    public var pauseReason: String?
}

public struct OwnOutlets: Codable, Equatable, Sendable {
    public var outlets: [OwnOutlet]
    /// What to send as after; null at the end.
    public var next: String?
}

public struct PaymentDoubt: Codable, Equatable, Sendable {
    public var ref: String
    public var kind: PaymentDoubtKind
    public var why: PaymentDoubtWhy
}

public struct PaymentDoubtKind: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let authorised: PaymentDoubtKind = "authorised"
    public static let captured: PaymentDoubtKind = "captured"
    public static let voided: PaymentDoubtKind = "voided"
    public static let refunded: PaymentDoubtKind = "refunded"
    public static let chargedBack: PaymentDoubtKind = "chargedBack"
    public static let failed: PaymentDoubtKind = "failed"
}

public struct PaymentDoubtWhy: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let parent: PaymentDoubtWhy = "parent"
    public static let excess: PaymentDoubtWhy = "excess"
}

public struct PaymentSum: Codable, Equatable, Sendable {
    public var count: Int
    /// In minor units.
    public var amount: Int
}

public struct PeriodInput: Codable, Equatable, Sendable {
    /// HH:MM; past midnight the hours go on, 25:30.
    public var opens: String
    /// HH:MM; past midnight the hours go on, 25:30.
    public var closes: String

    public init(opens: String, closes: String) {
        self.opens = opens
        self.closes = closes
    }
}

public struct PromiseChange: Codable, Equatable, Sendable {
    public var from: String?
    public var to: String?
    public var reason: String?
}

public struct PromoCard: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var model: PromoModel
}

public struct PromoModel: Codable, Equatable, Sendable {
    public var name: String
    public var description: String?
    /// Null where it cannot be ordered, in minor units.
    public var price: Int?
    public var currency: String
    public var cuisine: String?
    public var tags: [String]
    public var imageSmall: String?
    public var available: Bool
    /// When it can be again, if that is known.
    public var availableFrom: String?
    public var daypart: String?
    /// Whether it is the lowest of several.
    public var from: Bool?
    public var hasLinks: Bool?
    public var hasOptions: Bool?
    /// Where they differ by the way to have the order.
    public var prices: ServicePrices?
    public var promotion: CardPromotion?
}

public struct Promotion: Codable, Equatable, Sendable {
    public var id: String
    public var title: String
    public var on: PromotionOn
    /// One of its members.
    public var give: Gift
    /// Whether it excludes others.
    public var alone: Bool?
    /// How many units are paid for.
    public var buy: Int?
    /// Who pays; the outlet where it is left out.
    public var by: ChargeBy?
    /// The most that it takes off, in minor units.
    public var cap: Int?
    /// What a customer has to say.
    public var code: String?
    public var from: String?
    /// How many more it is for; 1 where it is left out.
    public var get: Int?
    /// How often in all.
    public var limit: Int?
    /// The least subtotal, in minor units.
    public var minimum: Int?
    /// What of the menu it is for; everything where it is left out.
    public var of: Scope?
    /// How often for one customer.
    public var perCustomer: Int?
    public var service: CartService?
    public var until: String?
    /// How often, where it has a limit.
    public var used: Int?
}

public struct PromotionInput: Codable, Equatable, Sendable {
    public var title: String
    public var on: PromotionOn
    /// One of its members.
    public var give: GiftInput
    public var alone: Bool?
    public var buy: Int?
    public var by: ChargeBy?
    /// In minor units.
    public var cap: Int?
    public var code: String?
    public var from: String?
    public var get: Int?
    public var id: String?
    public var limit: Int?
    /// In minor units.
    public var minimum: Int?
    public var of: ScopeInput?
    public var perCustomer: Int?
    public var service: CartService?
    public var until: String?

    public init(
        title: String, on: PromotionOn, give: GiftInput, alone: Bool? = nil, buy: Int? = nil, by: ChargeBy? = nil,
        cap: Int? = nil, code: String? = nil, from: String? = nil, get: Int? = nil, id: String? = nil,
        limit: Int? = nil, minimum: Int? = nil, of: ScopeInput? = nil, perCustomer: Int? = nil,
        service: CartService? = nil, until: String? = nil
    ) {
        self.title = title
        self.on = on
        self.give = give
        self.alone = alone
        self.buy = buy
        self.by = by
        self.cap = cap
        self.code = code
        self.from = from
        self.get = get
        self.id = id
        self.limit = limit
        self.minimum = minimum
        self.of = of
        self.perCustomer = perCustomer
        self.service = service
        self.until = until
    }
}

public struct PromotionOn: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let items: PromotionOn = "items"
    public static let order: PromotionOn = "order"
    public static let delivery: PromotionOn = "delivery"
}

public struct Promotions: Codable, Equatable, Sendable {
    public var outlet: String
    public var version: Int
    public var promotions: [Promotion]
}

public struct PromotionsSection: Codable, Equatable, Sendable {
    public var id: String
    public var kind: String
    public var headerTitle: String
    public var layout: Layout
    public var sticky: Bool
    public var accessibilityId: String
    public var itemAccessibilityPrefix: String
    public var items: [HomeItem]
    public var daypart: String?
}

public enum ProveEventAnswer: Codable, Equatable, Sendable {
    case receipt(Receipt)
    case linkReceipt(LinkReceipt)
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Receipt.self) {
            self = .receipt(value)
        } else if let value = try? container.decode(LinkReceipt.self) {
            self = .linkReceipt(value)
        } else {
            self = .other(try container.decode(JSON.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .receipt(let value): try container.encode(value)
        case .linkReceipt(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct ProveEventForm: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let tree: ProveEventForm = "tree"
    public static let signed: ProveEventForm = "signed"
    public static let links: ProveEventForm = "links"
}

public struct ProvenBatch: Codable, Equatable, Sendable {
    public var firstPosition: Int
    public var lastPosition: Int
    public var index: Int
    public var size: Int
    /// Base64.
    public var path: String
    public var previousChainDigest: String
}

public struct ProvenEvent: Codable, Equatable, Sendable {
    public var partition: Int
    public var position: Int
    public var stream: String
    public var version: Int
    public var kind: String
    public var schemaVersion: Int
    /// The bytes that were recorded.
    public var payload: String
    /// The same.
    public var metadata: String
    public var recordedAtMilliseconds: Int
}

public struct Quote: Codable, Equatable, Sendable {
    public var cart: String
    public var outlet: String?
    public var version: Int
    public var currency: String?
    /// At today's prices.
    public var lines: [CartLine]
    /// In minor units.
    public var subtotal: Int?
    public var charges: [Charge]
    /// In minor units.
    public var total: Int?
    /// What to check out with; null where that cannot be.
    public var quote: String?
    public var codes: [CartCode]?
    /// When the order is wanted.
    public var `for`: String?
    /// In minor units.
    public var minimumOrder: Int?
    /// What the cart was checked out as.
    public var order: String?
    public var prepMinutes: Int?
    /// Why, as a code and a text.
    public var problem: String?
    public var promisedFor: String?
    /// What the checkout has to have.
    public var requires: [QuoteRequire]?
    public var service: CartService?
    /// The ways to choose from.
    public var services: [CartService]?
    public var table: String?
}

public struct QuoteRequire: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let name: QuoteRequire = "name"
    public static let phone: QuoteRequire = "phone"
    public static let address: QuoteRequire = "address"
    public static let table: QuoteRequire = "table"
}

public enum ReadLogAnswer: Codable, Equatable, Sendable {
    case events([Event])
    case foundEvents(FoundEvents)
    /// What this client does not know yet.
    case other(JSON)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode([Event].self) {
            self = .events(value)
        } else if let value = try? container.decode(FoundEvents.self) {
            self = .foundEvents(value)
        } else {
            self = .other(try container.decode(JSON.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .events(let value): try container.encode(value)
        case .foundEvents(let value): try container.encode(value)
        case .other(let value): try container.encode(value)
        }
    }
}

public struct Rebuild: Codable, Equatable, Sendable {
    public var projection: String?
    public var state: String
}

public struct Receipt: Codable, Equatable, Sendable {
    /// The number of its form.
    public var receipt: Int
    public var partitions: Int
    public var event: ProvenEvent
    public var batch: ProvenBatch
    public var tree: TreeProof
    /// The note over the tree's root, as docs/audit.md has it; in forms 5 and 6.
    public var signedHead: String?
}

public struct RefundedTax: Codable, Equatable, Sendable {
    /// In minor units.
    public var amount: Int
    /// What the tax was taken of, in minor units.
    public var base: Int?
    public var id: String?
    /// In thousandths of a percent.
    public var rate: Int?
}

public struct Relay: Codable, Equatable, Sendable {
    public var name: String
    public var partition: Int
    public var position: Int
    /// How many are still to be sent.
    public var events: Int
    /// How many before these were refused, or wait for one that was.
    public var heldBack: Int
    /// How many before these it has given up.
    public var setAside: Int
    public var failure: String?
    public var failedAt: String?
}

public struct Relays: Codable, Equatable, Sendable {
    public var relays: [Relay]
}

public struct RemovedUser: Codable, Equatable, Sendable {
    public var name: String
    public var removed: Bool
}

public struct SavedItems: Codable, Equatable, Sendable {
    public var browse: String
    public var revision: Int
    /// How many match.
    public var total: Int
    /// The place of the first of them, from 0.
    public var from: Int
    public var items: [FoundItem]
    public var state: SavedItemsState
}

public struct SavedItemsState: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let ready: SavedItemsState = "ready"
    public static let empty: SavedItemsState = "empty"
}

public struct SavedOutlets: Codable, Equatable, Sendable {
    public var browse: String
    public var revision: Int
    /// How many match.
    public var total: Int
    /// The place of the first of them, from 0.
    public var from: Int
    public var items: [FoundOutlet]
    public var state: SavedItemsState
}

public struct Scope: Codable, Equatable, Sendable {
    public var items: [String]?
    public var sections: [String]?
    public var tags: [String]?
}

public struct ScopeInput: Codable, Equatable, Sendable {
    public var items: [String]?
    public var sections: [String]?
    public var tags: [String]?

    public init(items: [String]? = nil, sections: [String]? = nil, tags: [String]? = nil) {
        self.items = items
        self.sections = sections
        self.tags = tags
    }
}

public struct SectionInput: Codable, Equatable, Sendable {
    public var title: String
    public var kind: MenuSectionKind
    public var daypart: String?
    /// Needed in a menu.
    public var id: String?
    public var items: [ItemInput]?
    /// That of the kind where it is left out.
    public var layout: LayoutInput?
    public var sticky: Bool?

    public init(
        title: String, kind: MenuSectionKind, daypart: String? = nil, id: String? = nil, items: [ItemInput]? = nil,
        layout: LayoutInput? = nil, sticky: Bool? = nil
    ) {
        self.title = title
        self.kind = kind
        self.daypart = daypart
        self.id = id
        self.items = items
        self.layout = layout
        self.sticky = sticky
    }
}

public struct ServiceCharge: Codable, Equatable, Sendable {
    /// In thousandths of a percent.
    public var rate: Int
    public var tax: String?
}

public struct ServiceInput: Codable, Equatable, Sendable {
    /// In thousandths of a percent.
    public var rate: Int
    public var tax: String?

    public init(rate: Int, tax: String? = nil) {
        self.rate = rate
        self.tax = tax
    }
}

public struct ServicePrices: Codable, Equatable, Sendable {
    /// In minor units.
    public var delivery: Int?
    /// In minor units.
    public var pickup: Int?
    /// In minor units.
    public var table: Int?
}

public struct ServiceSum: Codable, Equatable, Sendable {
    public var service: CartService?
    public var sold: MovementSum
    public var cancelled: MovementSum
    public var refunded: MovementSum
    /// Less what was cancelled and given back.
    public var net: NetSum
    public var changed: MovementSum?
}

public struct Session: Codable, Equatable, Sendable {
    /// Null where there are no users.
    public var user: String?
    public var role: String
}

public struct SignedHead: Codable, Equatable, Sendable {
    public var partition: Int
    /// Where its last batch ends.
    public var position: Int
    /// With the signatures, as docs/audit.md has it.
    public var note: String
}

public struct Slot: Codable, Equatable, Sendable {
    public var at: String
    /// The same by the outlet's clocks.
    public var local: String
    /// How many orders it still takes.
    public var left: Int?
}

public struct SlotRule: Codable, Equatable, Sendable {
    public var minutes: Int
    /// The most in one slot.
    public var orders: Int?
}

public struct Slots: Codable, Equatable, Sendable {
    public var outlet: String
    public var service: CartService?
    public var date: String
    /// How far apart slots are.
    public var minutes: Int?
    public var slots: [Slot]
    /// The most in one slot.
    public var orders: Int?
}

public struct SlotsInput: Codable, Equatable, Sendable {
    public var minutes: Int
    /// The most in one slot.
    public var orders: Int?

    public init(minutes: Int, orders: Int? = nil) {
        self.minutes = minutes
        self.orders = orders
    }
}

public struct SlowCommand: Codable, Equatable, Sendable {
    public var id: Int
    public var at: String
    public var microseconds: Int
    public var words: [String]
    public var address: String
    public var client: String
}

public struct SlowCommands: Codable, Equatable, Sendable {
    public var commands: [SlowCommand]
}

public struct SpecialDay: Codable, Equatable, Sendable {
    public var date: String
    public var hours: [OpeningPeriod]
}

public struct SpecialDayInput: Codable, Equatable, Sendable {
    public var date: String
    public var hours: [PeriodInput]

    public init(date: String, hours: [PeriodInput]) {
        self.date = date
        self.hours = hours
    }
}

public struct Stock: Codable, Equatable, Sendable {
    public var outlet: String
    public var version: Int
    public var stock: [StockRow]
}

public struct StockRow: Codable, Equatable, Sendable {
    public var kind: StockRowKind
    public var id: String
    public var left: Int
    /// By orders that the kitchen has not begun.
    public var held: Int
}

public struct StockRowKind: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let item: StockRowKind = "item"
    public static let option: StockRowKind = "option"
    public static let slot: StockRowKind = "slot"
    public static let promotion: StockRowKind = "promotion"
    public static let customer: StockRowKind = "customer"
}

public struct TagBar: Codable, Equatable, Sendable {
    /// In points.
    public var height: Int
    public var showBelow: Int
    public var hideAbove: Int
    public var chips: [Chip]
}

public struct Takings: Codable, Equatable, Sendable {
    public var outlet: String
    public var currency: String
    public var timeZone: String
    public var days: [TakingsDay]
    public var sum: TakingsSum
    public var taxIncluded: Bool?
}

public struct TakingsDay: Codable, Equatable, Sendable {
    public var day: String
    public var from: String
    public var until: String
    public var services: [ServiceSum]
    public var payments: TakingsDayPayments
    /// Less what was cancelled and given back.
    public var net: NetSum
    public var hours: [TakingsHour]?
}

public struct TakingsDayPayments: Codable, Equatable, Sendable {
    public var authorised: PaymentSum?
    public var captured: PaymentSum?
    public var chargedBack: PaymentSum?
    public var failed: PaymentSum?
    public var refunded: PaymentSum?
    public var voided: PaymentSum?
}

public struct TakingsHour: Codable, Equatable, Sendable {
    public var from: String
    public var services: [ServiceSum]
    public var payments: TakingsDayPayments
    /// Less what was cancelled and given back.
    public var net: NetSum
}

public struct TakingsSum: Codable, Equatable, Sendable {
    public var services: [ServiceSum]
    public var payments: TakingsDayPayments
    /// Less what was cancelled and given back.
    public var net: NetSum
}

public struct Tax: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    /// In thousandths of a percent.
    public var rate: Int
    /// Where they differ by service.
    public var rates: TaxRates?
}

public struct TaxInput: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    /// In thousandths of a percent.
    public var rate: Int
    public var rates: TaxInputRates?

    public init(id: String, name: String, rate: Int, rates: TaxInputRates? = nil) {
        self.id = id
        self.name = name
        self.rate = rate
        self.rates = rates
    }
}

public struct TaxInputRates: Codable, Equatable, Sendable {
    /// In thousandths of a percent.
    public var delivery: Int?
    /// In thousandths of a percent.
    public var pickup: Int?
    /// In thousandths of a percent.
    public var table: Int?

    public init(delivery: Int? = nil, pickup: Int? = nil, table: Int? = nil) {
        self.delivery = delivery
        self.pickup = pickup
        self.table = table
    }
}

/// Where they differ by service.
public struct TaxRates: Codable, Equatable, Sendable {
    /// In thousandths of a percent.
    public var delivery: Int?
    /// In thousandths of a percent.
    public var pickup: Int?
    /// In thousandths of a percent.
    public var table: Int?
}

public struct TaxSum: Codable, Equatable, Sendable {
    public var id: String?
    /// In thousandths of a percent.
    public var rate: Int?
    /// In minor units.
    public var base: Int
    /// In minor units.
    public var amount: Int
}

public struct Today: Codable, Equatable, Sendable {
    public var day: String
    /// In minor units.
    public var net: Int
}

public struct TreeProof: Codable, Equatable, Sendable {
    public var index: Int
    public var size: Int
    public var root: String
    /// Base64.
    public var path: String
}

public struct User: Codable, Equatable, Sendable {
    public var name: String
    public var role: UserRole
    /// What the user is confined to.
    public var only: [String]
    public var enabled: Bool
    /// Whether there is one.
    public var password: Bool
    /// The beginnings of their digests.
    public var tokens: [String]
    public var addedAt: String
}

public struct UserRole: Word {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let customer: UserRole = "customer"
    public static let merchant: UserRole = "merchant"
    public static let auditor: UserRole = "auditor"
    public static let admin: UserRole = "admin"
}

public struct Users: Codable, Equatable, Sendable {
    public var users: [User]
}
