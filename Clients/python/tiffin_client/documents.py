"""The documents of the API.

Written by Scripts/clients from docs/openapi.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "ArrivalInput", "Attributes", "AttributesValue", "BadgeCard", "BadgeModel", "Bill", "BillLine", "CancelOrderBy",
    "CardPromotion", "CardPromotionState", "Cart", "CartCode", "CartCodeState", "CartLine", "CartService",
    "CartStatus", "Charge", "ChargeBy", "ChargeKind", "ChargesInput", "Chip", "Clients", "Daypart", "DaypartInput",
    "Debt", "DebtBy", "DebtTo", "Delay", "Delays", "DelaySample", "DessertCard", "DessertModel", "DessertsSection",
    "DiscountSum", "EarlierTree", "Ending", "EndingBy", "EndingCode", "Event", "EventMetadata", "FacetBand", "Facets",
    "FacetValue", "Fee", "Feed", "FeedState", "FeeInput", "Forgetting", "ForgottenCustomer", "FoundEvents",
    "FoundItem", "FoundOutlet", "Gift", "GiftInput", "GridLayout", "GroupInput", "Home", "HomeItem", "HomeOutlet",
    "HomeSection", "HomeState", "HorizontalCardLayout", "HoursInput", "Image", "Information", "Item", "ItemInput",
    "ItemInputPrices", "ItemKind", "ItemPage", "ItemPageState", "Kitchen", "KitchenLine", "KitchenOrder", "Layout",
    "LayoutInput", "LayoutInputStyle", "LineChange", "LineInput", "LineOption", "LineProblem", "LineProblemCode",
    "Link", "LinkedBatch", "LinkedHead", "LinkReceipt", "ListLayout", "LogHead", "LogTree", "Menu", "MenuInput",
    "MenuItem", "MenuItemCard", "MenuItemModel", "MenuItemsSection", "MenuOption", "MenuSection", "MenuSectionKind",
    "MovementSum", "NetSum", "NewToken", "NumberFacet", "OfferedService", "OfferedServiceInput", "OpeningHours",
    "OpeningHoursDay", "OpeningPeriod", "OptionGroup", "OptionInput", "Order", "OrderChange", "OrderChangeDeclinedBy",
    "OrderChangeInput", "OrderChangeState", "OrderLine", "OrderMissing", "OrderPage", "OrderPayment",
    "OrderPaymentState", "OrderProof", "OrderRow", "OrderStatus", "Outlet", "OutletCharges", "OutletFollows",
    "OutletInput", "OutletInputServices", "OutletPage", "OutletPayment", "OutletServices", "OutletStatus", "OwnOutlet",
    "OwnOutlets", "PaymentDoubt", "PaymentDoubtKind", "PaymentDoubtWhy", "PaymentSum", "PeriodInput", "PromiseChange",
    "PromoCard", "PromoModel", "Promotion", "PromotionInput", "PromotionOn", "Promotions", "PromotionsSection",
    "ProveEventAnswer", "ProveEventForm", "ProvenBatch", "ProvenEvent", "Quote", "QuoteRequire", "ReadLogAnswer",
    "Rebuild", "Receipt", "RefundedTax", "Relay", "Relays", "RemovedUser", "SavedItems", "SavedItemsState",
    "SavedOutlets", "Scope", "ScopeInput", "SectionInput", "ServiceCharge", "ServiceInput", "ServicePrices",
    "ServiceSum", "Session", "SignedHead", "Slot", "SlotRule", "Slots", "SlotsInput", "SlowCommand", "SlowCommands",
    "SpecialDay", "SpecialDayInput", "Stock", "StockRow", "StockRowKind", "TagBar", "Takings", "TakingsDay",
    "TakingsDayPayments", "TakingsHour", "TakingsSum", "Tax", "TaxInput", "TaxInputRates", "TaxRates", "TaxSum",
    "Today", "TreeProof", "User", "UserRole", "Users",
]

CancelOrderBy: TypeAlias = Literal["customer", "merchant"]

CardPromotionState: TypeAlias = Literal["open", "spent", "ended"]

CartCodeState: TypeAlias = Literal["applied", "minimum", "nothing", "later", "ended", "spent", "customer"]

CartService: TypeAlias = Literal["pickup", "delivery", "table"]

CartStatus: TypeAlias = Literal["empty", "open", "checkingOut", "checkedOut"]

ChargeBy: TypeAlias = Literal["outlet", "platform"]

ChargeKind: TypeAlias = Literal["service", "smallOrder", "delivery", "tax", "tip", "discount"]

DebtBy: TypeAlias = Literal["outlet", "customer"]

DebtTo: TypeAlias = Literal["outlet", "customer"]

EndingBy: TypeAlias = Literal["customer", "merchant", "system"]

EndingCode: TypeAlias = Literal["ITEMS", "CLOSED", "BUSY", "NOTE", "CUSTOMER", "UNPAID", "TIMEOUT", "OTHER"]

HomeState: TypeAlias = Literal["ready", "empty", "malformed"]

ItemKind: TypeAlias = Literal["menuItem", "promo", "dessert", "badge"]

ItemPageState: TypeAlias = Literal["ready", "empty", "noMenu"]

LayoutInputStyle: TypeAlias = Literal["list", "horizontalCard", "grid"]

LineProblemCode: TypeAlias = Literal[
    "PRICECHANGED", "SOLDOUT", "CLOSED", "GONE", "OPTIONGONE", "OPTIONSOLDOUT", "CHOICE", "TAXGONE",
]

MenuSectionKind: TypeAlias = Literal["menuItems", "promotions", "desserts"]

OpeningHoursDay: TypeAlias = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

OrderChangeDeclinedBy: TypeAlias = Literal["customer", "merchant", "system"]

OrderChangeState: TypeAlias = Literal["open", "agreed", "declined", "expired", "ended"]

OrderMissing: TypeAlias = Literal["remove", "replace", "ask", "cancel"]

OrderPaymentState: TypeAlias = Literal["authorised", "captured", "voided", "refunded", "chargedBack", "failed"]

OrderStatus: TypeAlias = Literal[
    "awaitingPayment", "scheduled", "placed", "accepted", "preparing", "ready", "completed", "rejected", "cancelled",
]

OutletFollows: TypeAlias = Literal["commands", "hours"]

OutletPayment: TypeAlias = Literal["none", "first"]

OutletStatus: TypeAlias = Literal["open", "closed", "paused"]

PaymentDoubtKind: TypeAlias = Literal["authorised", "captured", "voided", "refunded", "chargedBack", "failed"]

PaymentDoubtWhy: TypeAlias = Literal["parent", "excess"]

PromotionOn: TypeAlias = Literal["items", "order", "delivery"]

ProveEventForm: TypeAlias = Literal["tree", "signed", "links"]

QuoteRequire: TypeAlias = Literal["name", "phone", "address", "table"]

SavedItemsState: TypeAlias = Literal["ready", "empty"]

StockRowKind: TypeAlias = Literal["item", "option", "slot", "promotion", "customer"]

UserRole: TypeAlias = Literal["customer", "merchant", "auditor", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalInput:
    item: str
    quantity: int
    # Such as large,cheese*2.
    options: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeCard:
    id: str
    kind: Literal["badge"]
    model: BadgeModel


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeModel:
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    currency: str
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    label: str | None
    points: float | None
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_links: bool | None = field(default=None, metadata={"json": "hasLinks"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: CardPromotion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    # In minor units.
    total: int
    digest: str
    charges: list[Charge] | None = None
    lines: list[BillLine] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    # Its id in the cart.
    line: str
    item: str
    name: str
    quantity: int
    # In minor units.
    unit_price: int = field(metadata={"json": "unitPrice"})
    options: list[LineOption]
    note: str | None
    # In minor units.
    total: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPromotion:
    id: str
    state: CardPromotionState
    code: str | None = None
    from_: str | None = field(default=None, metadata={"json": "from"})
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cart:
    cart: str
    outlet: str | None
    version: int
    status: CartStatus
    count: int
    currency: str | None
    lines: list[CartLine]
    # In minor units.
    subtotal: int
    # In minor units.
    total: int
    updated_at: str = field(metadata={"json": "updatedAt"})
    # Once it is checked out.
    charges: list[Charge] | None = None
    # What the customer said, and what became of it.
    codes: list[CartCode] | None = None
    customer: str | None = None
    # When the order is wanted.
    for_: str | None = field(default=None, metadata={"json": "for"})
    # What it was checked out as.
    order: str | None = None
    service: CartService | None = None
    table: str | None = None
    # In minor units.
    tip: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CartCode:
    code: str
    state: CartCodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class CartLine:
    # Its id in the cart.
    line: str
    item: str
    name: str
    quantity: int
    # In minor units.
    unit_price: int = field(metadata={"json": "unitPrice"})
    options: list[LineOption]
    note: str | None
    # In minor units.
    total: int | None
    # What keeps it from being ordered as it is.
    problem: LineProblem | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    kind: ChargeKind
    # Below 0 for a discount, in minor units.
    amount: int
    # Whether other prices have it already.
    included: bool
    # What falls on each line, then on each charge before the taxes.
    shares: list[int]
    # What a tax was taken of, in minor units.
    base: int | None = None
    # What a tax was taken of, of each line and charge.
    bases: list[int] | None = None
    # Who pays for a discount.
    by: ChargeBy | None = None
    # Of a tax, its id; of a discount, that of its promotion.
    id: str | None = None
    # What receipts call it.
    name: str | None = None
    # In thousandths of a percent.
    rate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargesInput:
    delivery: FeeInput | None = None
    service: ServiceInput | None = None
    small_order: FeeInput | None = field(default=None, metadata={"json": "smallOrder"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    id: str
    section: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    # In the words of CLIENT LIST.
    clients: list[dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Daypart:
    id: str
    hours: list[OpeningHours]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaypartInput:
    id: str
    hours: list[HoursInput]


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    by: DebtBy
    to: DebtTo
    # In minor units.
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    event: str
    # Milliseconds.
    maximum: int
    samples: list[DelaySample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    events: list[Delay]


@dataclass(frozen=True, slots=True, kw_only=True)
class DelaySample:
    at: str
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DessertCard:
    id: str
    kind: Literal["dessert"]
    model: DessertModel


@dataclass(frozen=True, slots=True, kw_only=True)
class DessertModel:
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    currency: str
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    add_button_accessibility_id: str = field(metadata={"json": "addButtonAccessibilityId"})
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_links: bool | None = field(default=None, metadata={"json": "hasLinks"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: CardPromotion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DessertsSection:
    id: str
    kind: Literal["desserts"]
    header_title: str = field(metadata={"json": "headerTitle"})
    layout: Layout
    sticky: bool
    accessibility_id: str = field(metadata={"json": "accessibilityId"})
    item_accessibility_prefix: str = field(metadata={"json": "itemAccessibilityPrefix"})
    items: list[HomeItem]
    daypart: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscountSum:
    by: ChargeBy
    # In minor units.
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTree:
    size: int
    root: str
    # Base64.
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    by: EndingBy
    code: EndingCode
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    partition: int
    position: int
    stream: str
    # Of the stream.
    version: int
    kind: str
    # Of the kind's payload.
    schema_version: int = field(metadata={"json": "schemaVersion"})
    # By kind and schemaVersion, as docs/events.md has it.
    payload: dict[str, Any]
    metadata: EventMetadata
    recorded_at: str = field(metadata={"json": "recordedAt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMetadata:
    # Who gave it.
    actor: str | None = None
    # A fingerprint of its arguments, in hexadecimal.
    args: str | None = None
    # What the server did it for: a stream and a version, order-x@3.
    cause: str | None = None
    # What the client says besides, where the actor had logged in.
    claim: str | None = None
    # What commands of one thing share.
    flow: str | None = None
    # The ID of the command.
    id: str | None = None
    # Where it belongs in a trace: a traceparent of W3C Trace Context.
    trace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetBand:
    from_: float = field(metadata={"json": "from"})
    to: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    areas: list[FacetValue] | None = None
    cities: list[FacetValue] | None = None
    cuisines: list[FacetValue] | None = None
    currencies: list[FacetValue] | None = None
    delivery_minutes: NumberFacet | None = field(default=None, metadata={"json": "deliveryMinutes"})
    kinds: list[FacetValue] | None = None
    prices: NumberFacet | None = None
    ratings: NumberFacet | None = None
    tags: list[FacetValue] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    # In minor units.
    fee: int
    # From what subtotal on it is not charged, in minor units.
    free_from: int | None = field(default=None, metadata={"json": "freeFrom"})
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    state: HomeState
    checked_at: str = field(metadata={"json": "checkedAt"})
    refreshed_at: str | None = field(metadata={"json": "refreshedAt"})
    problems: list[str]
    source: str | None
    etag: str | None
    modified: str | None
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    state: HomeState
    checked_at: str = field(metadata={"json": "checkedAt"})
    refreshed_at: str | None = field(metadata={"json": "refreshedAt"})
    problems: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeInput:
    # In minor units.
    fee: int
    # In minor units.
    free_from: int | None = field(default=None, metadata={"json": "freeFrom"})
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    customers: list[ForgottenCustomer]
    # What is left to be done, for people.
    remainder: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenCustomer:
    customer: str
    destroyed_keys: int = field(metadata={"json": "destroyedKeys"})
    # Since when the customer was forgotten already.
    forgotten_before: str | None = field(metadata={"json": "forgottenBefore"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEvents:
    events: list[Event]
    # How far it was looked.
    to: int
    # Where to go on; null at the end.
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    outlet: str
    item: str
    kind: ItemKind
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    currency: str
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    outlet_name: str = field(metadata={"json": "outletName"})
    city: str | None
    area: str | None
    # From 0 to 5.
    rating: float | None
    delivery_minutes: int | None = field(metadata={"json": "deliveryMinutes"})
    status: OutletStatus
    delayed_until: str | None = field(default=None, metadata={"json": "delayedUntil"})
    delay_minutes: int | None = field(default=None, metadata={"json": "delayMinutes"})
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_links: bool | None = field(default=None, metadata={"json": "hasLinks"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    opens_at: str | None = field(default=None, metadata={"json": "opensAt"})
    paused_until: str | None = field(default=None, metadata={"json": "pausedUntil"})
    pause_reason: str | None = field(default=None, metadata={"json": "pauseReason"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundOutlet:
    id: str
    name: str
    city: str | None
    area: str | None
    address: str | None
    currency: str
    time_zone: str = field(metadata={"json": "timeZone"})
    cuisines: list[str]
    # In minor units.
    price_for_two: int | None = field(metadata={"json": "priceForTwo"})
    # From 0 to 5.
    rating: float | None
    rating_count: int | None = field(metadata={"json": "ratingCount"})
    delivery_minutes: int | None = field(metadata={"json": "deliveryMinutes"})
    # In minor units.
    minimum_order: int | None = field(metadata={"json": "minimumOrder"})
    hours: list[OpeningHours]
    status: OutletStatus
    # Seconds.
    accept_within: int | None = field(default=None, metadata={"json": "acceptWithin"})
    charges: OutletCharges | None = None
    dayparts: list[Daypart] | None = None
    # HH:MM; past midnight the hours go on, 25:30.
    day_starts: str | None = field(default=None, metadata={"json": "dayStarts"})
    delayed_until: str | None = field(default=None, metadata={"json": "delayedUntil"})
    delay_minutes: int | None = field(default=None, metadata={"json": "delayMinutes"})
    # What opens and closes it.
    follows: OutletFollows | None = None
    opens_at: str | None = field(default=None, metadata={"json": "opensAt"})
    order_ahead_days: int | None = field(default=None, metadata={"json": "orderAheadDays"})
    paused_until: str | None = field(default=None, metadata={"json": "pausedUntil"})
    pause_reason: str | None = field(default=None, metadata={"json": "pauseReason"})
    payment: OutletPayment | None = None
    # Seconds.
    pay_within: int | None = field(default=None, metadata={"json": "payWithin"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # The ways to have an order.
    services: OutletServices | None = None
    slots: SlotRule | None = None
    special_days: list[SpecialDay] | None = field(default=None, metadata={"json": "specialDays"})
    taxes: list[Tax] | None = None
    # Whether prices have the taxes already.
    tax_included: bool | None = field(default=None, metadata={"json": "taxIncluded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    # In minor units.
    amount: int | None = None
    # In thousandths of a percent.
    percent: int | None = None
    # In minor units.
    price: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GiftInput:
    # In minor units.
    amount: int | None = None
    # In thousandths of a percent.
    percent: int | None = None
    # In minor units.
    price: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridLayout:
    style: Literal["grid"]
    # Of a card.
    minimum_width: int = field(metadata={"json": "minimumWidth"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupInput:
    title: str
    options: list[OptionInput]
    free: int | None = None
    # Needed in a menu.
    id: str | None = None
    max: int | None = None
    min: int | None = None
    sets_price: bool | None = field(default=None, metadata={"json": "setsPrice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    outlet: HomeOutlet
    revision: int
    state: HomeState
    tag_bar: TagBar = field(metadata={"json": "tagBar"})
    sections: list[HomeSection]
    # Where a cart was asked for.
    cart_count: int | None = field(default=None, metadata={"json": "cartCount"})
    feed: FeedState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeOutlet:
    id: str
    name: str
    city: str | None
    area: str | None
    address: str | None
    currency: str
    time_zone: str = field(metadata={"json": "timeZone"})
    cuisines: list[str]
    # In minor units.
    price_for_two: int | None = field(metadata={"json": "priceForTwo"})
    # From 0 to 5.
    rating: float | None
    rating_count: int | None = field(metadata={"json": "ratingCount"})
    delivery_minutes: int | None = field(metadata={"json": "deliveryMinutes"})
    # In minor units.
    minimum_order: int | None = field(metadata={"json": "minimumOrder"})
    hours: list[OpeningHours]
    status: OutletStatus
    accessibility_id: str = field(metadata={"json": "accessibilityId"})
    # Seconds.
    accept_within: int | None = field(default=None, metadata={"json": "acceptWithin"})
    charges: OutletCharges | None = None
    dayparts: list[Daypart] | None = None
    # HH:MM; past midnight the hours go on, 25:30.
    day_starts: str | None = field(default=None, metadata={"json": "dayStarts"})
    delayed_until: str | None = field(default=None, metadata={"json": "delayedUntil"})
    delay_minutes: int | None = field(default=None, metadata={"json": "delayMinutes"})
    # What opens and closes it.
    follows: OutletFollows | None = None
    # Whether no search finds it.
    hidden: bool | None = None
    opens_at: str | None = field(default=None, metadata={"json": "opensAt"})
    order_ahead_days: int | None = field(default=None, metadata={"json": "orderAheadDays"})
    paused_until: str | None = field(default=None, metadata={"json": "pausedUntil"})
    pause_reason: str | None = field(default=None, metadata={"json": "pauseReason"})
    payment: OutletPayment | None = None
    # Seconds.
    pay_within: int | None = field(default=None, metadata={"json": "payWithin"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # The ways to have an order.
    services: OutletServices | None = None
    slots: SlotRule | None = None
    special_days: list[SpecialDay] | None = field(default=None, metadata={"json": "specialDays"})
    taxes: list[Tax] | None = None
    # Whether prices have the taxes already.
    tax_included: bool | None = field(default=None, metadata={"json": "taxIncluded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizontalCardLayout:
    style: Literal["horizontalCard"]
    # Of a card.
    width: int
    # Of a card.
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoursInput:
    day: OpeningHoursDay
    # HH:MM; past midnight the hours go on, 25:30.
    opens: str
    # HH:MM; past midnight the hours go on, 25:30.
    closes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    url: str
    alt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    outlet: str
    section: str
    id: str
    kind: ItemKind
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    image_large: str | None = field(metadata={"json": "imageLarge"})
    images: list[Image]
    links: list[Link]
    max_quantity: int | None = field(metadata={"json": "maxQuantity"})
    # Its groups.
    options: list[str]
    attributes: Attributes
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    currency: str
    combo: bool | None = None
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    groups: list[OptionGroup] | None = None
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: str | None = None
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemInput:
    kind: ItemKind
    name: str
    # As docs/menus.md has them.
    attributes: dict[str, Any] | None = None
    combo: bool | None = None
    cuisine: str | None = None
    daypart: str | None = None
    description: str | None = None
    # As an item shows it: then its price is not read.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    # Needed in a menu.
    id: str | None = None
    image_large: str | None = field(default=None, metadata={"json": "imageLarge"})
    images: list[Image] | None = None
    image_small: str | None = field(default=None, metadata={"json": "imageSmall"})
    links: list[Link] | None = None
    max_quantity: int | None = field(default=None, metadata={"json": "maxQuantity"})
    # Its groups.
    options: list[str] | None = None
    # In minor units.
    price: int | None = None
    prices: ItemInputPrices | None = None
    promotion: str | None = None
    tags: list[str] | None = None
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemInputPrices:
    # In minor units.
    delivery: int | None = None
    # In minor units.
    pickup: int | None = None
    # In minor units.
    table: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    # How many match.
    total: int
    items: list[FoundItem]
    # What to send as after; null at the end.
    next: str | None
    facets: Facets | None
    state: ItemPageState
    # Texts that would match.
    suggestions: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kitchen:
    outlet: str
    # How many orders there are, shown or not.
    count: int
    orders: list[KitchenOrder]
    # False where new orders will not be among them.
    followed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenLine:
    line: str
    item: str
    name: str
    quantity: int
    options: list[LineOption]
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenOrder:
    order: str
    version: int
    status: OrderStatus
    late: bool
    # Whether its payment fell away.
    uncovered: bool
    count: int
    lines: list[KitchenLine]
    accept_by: str | None = field(default=None, metadata={"json": "acceptBy"})
    address: str | None = None
    # Of which nobody took note yet.
    changes: list[OrderChange] | None = None
    customer: str | None = None
    ending: Ending | None = None
    # What to do if something is missing; ask where it is left out.
    missing: OrderMissing | None = None
    name: str | None = None
    pay_by: str | None = field(default=None, metadata={"json": "payBy"})
    phone: str | None = None
    placed_at: str | None = field(default=None, metadata={"json": "placedAt"})
    # What the customer was told.
    promised_for: str | None = field(default=None, metadata={"json": "promisedFor"})
    proposal: OrderChange | None = None
    # What the kitchen said.
    ready_by: str | None = field(default=None, metadata={"json": "readyBy"})
    # When the kitchen sees it.
    release_at: str | None = field(default=None, metadata={"json": "releaseAt"})
    service: CartService | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutInput:
    style: LayoutInputStyle
    # Of a card.
    height: int | None = None
    # Of a card.
    minimum_width: int | None = field(default=None, metadata={"json": "minimumWidth"})
    # Of a card.
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    line: str
    name: str
    from_: int = field(metadata={"json": "from"})
    to: int
    # The line in whose place it is.
    replaces: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineInput:
    line: str
    # What comes in place of the rest.
    by: ArrivalInput | None = None
    # How many are left; needed without by.
    quantity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOption:
    id: str
    name: str
    units: int
    # Of one unit, in minor units.
    price: int
    # How many units cost nothing.
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LineProblem:
    code: LineProblemCode
    available_from: str | None = field(default=None, metadata={"json": "availableFrom"})
    # When it can be had.
    daypart: str | None = None
    group: str | None = None
    max: int | None = None
    min: int | None = None
    option: str | None = None
    tax: str | None = None
    # What one costs now, in minor units.
    unit_price: int | None = field(default=None, metadata={"json": "unitPrice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    # What it is to the item.
    rel: str
    url: str
    title: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedBatch:
    first_position: int = field(metadata={"json": "firstPosition"})
    last_position: int = field(metadata={"json": "lastPosition"})
    index: int
    size: int
    path: list[str]
    content_digest: str = field(metadata={"json": "contentDigest"})
    previous_chain_digest: str = field(metadata={"json": "previousChainDigest"})
    chain_digest: str = field(metadata={"json": "chainDigest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedHead:
    position: int
    digest: str
    links: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReceipt:
    # The number of its form.
    receipt: int
    partitions: int
    event: ProvenEvent
    batch: LinkedBatch
    head: LinkedHead | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLayout:
    style: Literal["list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHead:
    partition: int
    position: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTree:
    # The number of its form.
    tree: int
    partition: int
    position: int
    digest: str
    size: int
    root: str
    # Base64.
    path: str
    since: EarlierTree | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    outlet: str
    version: int
    sections: list[MenuSection]
    # The source that it is imported from.
    feed: FeedState | None = None
    groups: list[OptionGroup] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuInput:
    sections: list[SectionInput]
    groups: list[GroupInput] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    id: str
    kind: ItemKind
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    image_large: str | None = field(metadata={"json": "imageLarge"})
    images: list[Image]
    links: list[Link]
    max_quantity: int | None = field(metadata={"json": "maxQuantity"})
    # Its groups.
    options: list[str]
    attributes: Attributes
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    combo: bool | None = None
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: str | None = None
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItemCard:
    id: str
    kind: Literal["menuItem"]
    model: MenuItemModel


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItemModel:
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    currency: str
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_links: bool | None = field(default=None, metadata={"json": "hasLinks"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: CardPromotion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItemsSection:
    id: str
    kind: Literal["menuItems"]
    header_title: str = field(metadata={"json": "headerTitle"})
    layout: Layout
    sticky: bool
    accessibility_id: str = field(metadata={"json": "accessibilityId"})
    item_accessibility_prefix: str = field(metadata={"json": "itemAccessibilityPrefix"})
    items: list[HomeItem]
    daypart: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuOption:
    id: str
    name: str
    # In minor units.
    price: int
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    # How many units are chosen at first.
    default: int | None = None
    # Groups that it opens.
    groups: list[str] | None = None
    # The item that it is, in a combo.
    item: str | None = None
    # The most units; 1 where it is left out.
    max: int | None = None
    # By the size or the way to have the order.
    prices: dict[str, int] | None = None
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuSection:
    id: str
    title: str
    kind: MenuSectionKind
    layout: Layout
    sticky: bool
    items: list[MenuItem]
    daypart: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementSum:
    count: int
    # In minor units.
    total: int
    taxes: list[TaxSum]
    # In minor units.
    delivery: int | None = None
    discounts: list[DiscountSum] | None = None
    # In minor units.
    lines: int | None = None
    # In minor units.
    service: int | None = None
    # In minor units.
    small_order: int | None = field(default=None, metadata={"json": "smallOrder"})
    # In minor units.
    tip: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSum:
    # In minor units.
    total: int
    taxes: list[TaxSum]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    name: str
    # Shown this once.
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFacet:
    min: float | None
    max: float | None
    bands: list[FacetBand]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedService:
    charges: OutletCharges | None = None
    hours: list[OpeningHours] | None = None
    # In minor units.
    minimum_order: int | None = field(default=None, metadata={"json": "minimumOrder"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # What an order has to have.
    requires: list[QuoteRequire] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedServiceInput:
    charges: ChargesInput | None = None
    hours: list[HoursInput] | None = None
    # In minor units.
    minimum_order: int | None = field(default=None, metadata={"json": "minimumOrder"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    requires: list[QuoteRequire] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningHours:
    day: OpeningHoursDay
    # HH:MM; past midnight the hours go on, 25:30.
    opens: str
    # HH:MM; past midnight the hours go on, 25:30.
    closes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningPeriod:
    # HH:MM; past midnight the hours go on, 25:30.
    opens: str
    # HH:MM; past midnight the hours go on, 25:30.
    closes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionGroup:
    id: str
    title: str
    # The fewest units to choose.
    min: int
    # The most.
    max: int
    options: list[MenuOption]
    # How many units cost nothing.
    free: int | None = None
    # Whether the options are the item's sizes, and have its prices.
    sets_price: bool | None = field(default=None, metadata={"json": "setsPrice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionInput:
    id: str
    name: str
    default: int | None = None
    groups: list[str] | None = None
    item: str | None = None
    max: int | None = None
    # In minor units.
    price: int | None = None
    # By the size or the way to have the order.
    prices: dict[str, int] | None = None
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    order: str
    cart: str
    outlet: str
    version: int
    status: OrderStatus
    count: int
    currency: str
    lines: list[OrderLine]
    # In minor units.
    subtotal: int | None
    charges: list[Charge]
    # In minor units.
    total: int
    updated_at: str = field(metadata={"json": "updatedAt"})
    accept_by: str | None = field(default=None, metadata={"json": "acceptBy"})
    address: str | None = None
    changes: list[OrderChange] | None = None
    customer: str | None = None
    ending: Ending | None = None
    # What to do if something is missing; ask where it is left out.
    missing: OrderMissing | None = None
    name: str | None = None
    pay_by: str | None = field(default=None, metadata={"json": "payBy"})
    payment: OrderPayment | None = None
    phone: str | None = None
    placed_at: str | None = field(default=None, metadata={"json": "placedAt"})
    # How it changed.
    promise: list[PromiseChange] | None = None
    # What the customer was told.
    promised_for: str | None = field(default=None, metadata={"json": "promisedFor"})
    # A change that somebody has to agree to.
    proposal: OrderChange | None = None
    # What the kitchen said.
    ready_by: str | None = field(default=None, metadata={"json": "readyBy"})
    # What was given back, in minor units.
    refunded: int | None = None
    # In minor units.
    refunded_tax: int | None = field(default=None, metadata={"json": "refundedTax"})
    refunded_taxes: list[RefundedTax] | None = field(default=None, metadata={"json": "refundedTaxes"})
    # When the kitchen sees it.
    release_at: str | None = field(default=None, metadata={"json": "releaseAt"})
    service: CartService | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChange:
    by: EndingBy
    change: list[LineChange]
    before: Bill
    after: Bill
    declined_by: OrderChangeDeclinedBy | None = field(default=None, metadata={"json": "declinedBy"})
    # What became of it; left out of a proposal.
    state: OrderChangeState | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChangeInput:
    # What comes in.
    add: list[ArrivalInput] | None = None
    # What is left of lines.
    lines: list[LineInput] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    # Its id in the cart.
    line: str
    item: str
    name: str
    quantity: int
    # In minor units.
    unit_price: int = field(metadata={"json": "unitPrice"})
    options: list[LineOption]
    note: str | None
    # In minor units.
    total: int | None
    # Of how many the money was given back.
    refunded: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPage:
    orders: list[OrderRow]
    # What to send as after; null at the end.
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPayment:
    state: OrderPaymentState | None
    # In minor units.
    authorised: int
    # In minor units.
    captured: int
    # In minor units.
    refunded: int
    # In minor units.
    charged_back: int = field(metadata={"json": "chargedBack"})
    # In minor units.
    paid: int
    # In minor units.
    secured: int
    # What the customer has to pay, in minor units.
    due: int
    # What the outlet has to give back, in minor units.
    owed: int
    debt: Debt | None = None
    # Reports that cannot be.
    doubt: list[PaymentDoubt] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProof:
    # The version of this form.
    proof: int
    order: str
    # Of each event of the order, in one tree.
    receipts: list[Receipt]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    order: str
    outlet: str
    customer: str | None
    version: int
    status: OrderStatus
    count: int
    currency: str
    # In minor units.
    total: int
    # In minor units.
    tax: int
    # In minor units.
    refunded: int
    # In minor units.
    refunded_tax: int = field(metadata={"json": "refundedTax"})
    # In minor units.
    paid: int
    # Whether a payment was reported that cannot be.
    doubt: bool
    placed_at: str = field(metadata={"json": "placedAt"})
    updated_at: str = field(metadata={"json": "updatedAt"})
    service: CartService | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    id: str
    name: str
    city: str | None
    area: str | None
    address: str | None
    currency: str
    time_zone: str = field(metadata={"json": "timeZone"})
    cuisines: list[str]
    # In minor units.
    price_for_two: int | None = field(metadata={"json": "priceForTwo"})
    # From 0 to 5.
    rating: float | None
    rating_count: int | None = field(metadata={"json": "ratingCount"})
    delivery_minutes: int | None = field(metadata={"json": "deliveryMinutes"})
    # In minor units.
    minimum_order: int | None = field(metadata={"json": "minimumOrder"})
    hours: list[OpeningHours]
    status: OutletStatus
    version: int
    # Seconds.
    accept_within: int | None = field(default=None, metadata={"json": "acceptWithin"})
    charges: OutletCharges | None = None
    dayparts: list[Daypart] | None = None
    # HH:MM; past midnight the hours go on, 25:30.
    day_starts: str | None = field(default=None, metadata={"json": "dayStarts"})
    delayed_until: str | None = field(default=None, metadata={"json": "delayedUntil"})
    delay_minutes: int | None = field(default=None, metadata={"json": "delayMinutes"})
    # What opens and closes it.
    follows: OutletFollows | None = None
    # Whether no search finds it.
    hidden: bool | None = None
    opens_at: str | None = field(default=None, metadata={"json": "opensAt"})
    order_ahead_days: int | None = field(default=None, metadata={"json": "orderAheadDays"})
    paused_until: str | None = field(default=None, metadata={"json": "pausedUntil"})
    pause_reason: str | None = field(default=None, metadata={"json": "pauseReason"})
    payment: OutletPayment | None = None
    # Seconds.
    pay_within: int | None = field(default=None, metadata={"json": "payWithin"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # The ways to have an order.
    services: OutletServices | None = None
    slots: SlotRule | None = None
    special_days: list[SpecialDay] | None = field(default=None, metadata={"json": "specialDays"})
    taxes: list[Tax] | None = None
    # Whether prices have the taxes already.
    tax_included: bool | None = field(default=None, metadata={"json": "taxIncluded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletCharges:
    delivery: Fee | None = None
    service: ServiceCharge | None = None
    small_order: Fee | None = field(default=None, metadata={"json": "smallOrder"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletInput:
    name: str
    # ISO 4217.
    currency: str
    # Of IANA.
    time_zone: str = field(metadata={"json": "timeZone"})
    # In seconds.
    accept_within: int | None = field(default=None, metadata={"json": "acceptWithin"})
    address: str | None = None
    area: str | None = None
    charges: ChargesInput | None = None
    city: str | None = None
    cuisines: list[str] | None = None
    dayparts: list[DaypartInput] | None = None
    # HH:MM; past midnight the hours go on, 25:30.
    day_starts: str | None = field(default=None, metadata={"json": "dayStarts"})
    delivery_minutes: int | None = field(default=None, metadata={"json": "deliveryMinutes"})
    follows: OutletFollows | None = None
    hours: list[HoursInput] | None = None
    # In minor units.
    minimum_order: int | None = field(default=None, metadata={"json": "minimumOrder"})
    order_ahead_days: int | None = field(default=None, metadata={"json": "orderAheadDays"})
    payment: OutletPayment | None = None
    # In seconds.
    pay_within: int | None = field(default=None, metadata={"json": "payWithin"})
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # In minor units.
    price_for_two: int | None = field(default=None, metadata={"json": "priceForTwo"})
    # From 0 to 5.
    rating: float | None = None
    rating_count: int | None = field(default=None, metadata={"json": "ratingCount"})
    services: OutletInputServices | None = None
    slots: SlotsInput | None = None
    special_days: list[SpecialDayInput] | None = field(default=None, metadata={"json": "specialDays"})
    taxes: list[TaxInput] | None = None
    tax_included: bool | None = field(default=None, metadata={"json": "taxIncluded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletInputServices:
    delivery: OfferedServiceInput | None = None
    pickup: OfferedServiceInput | None = None
    table: OfferedServiceInput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletPage:
    # How many match.
    total: int
    items: list[FoundOutlet]
    # What to send as after; null at the end.
    next: str | None
    facets: Facets | None
    state: ItemPageState
    # Texts that would match.
    suggestions: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutletServices:
    """The ways to have an order."""

    delivery: OfferedService | None = None
    pickup: OfferedService | None = None
    table: OfferedService | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOutlet:
    id: str
    name: str
    city: str | None
    area: str | None
    currency: str
    time_zone: str = field(metadata={"json": "timeZone"})
    status: OutletStatus
    version: int
    open_orders: int = field(metadata={"json": "openOrders"})
    late_orders: int = field(metadata={"json": "lateOrders"})
    today: Today | None
    delayed_until: str | None = field(default=None, metadata={"json": "delayedUntil"})
    delay_minutes: int | None = field(default=None, metadata={"json": "delayMinutes"})
    hidden: bool | None = None
    opens_at: str | None = field(default=None, metadata={"json": "opensAt"})
    paused_until: str | None = field(default=None, metadata={"json": "pausedUntil"})
    pause_reason: str | None = field(default=None, metadata={"json": "pauseReason"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOutlets:
    outlets: list[OwnOutlet]
    # What to send as after; null at the end.
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentDoubt:
    ref: str
    kind: PaymentDoubtKind
    why: PaymentDoubtWhy


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentSum:
    count: int
    # In minor units.
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodInput:
    # HH:MM; past midnight the hours go on, 25:30.
    opens: str
    # HH:MM; past midnight the hours go on, 25:30.
    closes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseChange:
    from_: str | None = field(metadata={"json": "from"})
    to: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoCard:
    id: str
    kind: Literal["promo"]
    model: PromoModel


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoModel:
    name: str
    description: str | None
    # Null where it cannot be ordered, in minor units.
    price: int | None
    currency: str
    cuisine: str | None
    tags: list[str]
    image_small: str | None = field(metadata={"json": "imageSmall"})
    available: bool
    # When it can be again, if that is known.
    available_from: str | None = field(metadata={"json": "availableFrom"})
    daypart: str | None = None
    # Whether it is the lowest of several.
    from_: bool | None = field(default=None, metadata={"json": "from"})
    has_links: bool | None = field(default=None, metadata={"json": "hasLinks"})
    has_options: bool | None = field(default=None, metadata={"json": "hasOptions"})
    # Where they differ by the way to have the order.
    prices: ServicePrices | None = None
    promotion: CardPromotion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    id: str
    title: str
    on: PromotionOn
    # One of its members.
    give: Gift
    # Whether it excludes others.
    alone: bool | None = None
    # How many units are paid for.
    buy: int | None = None
    # Who pays; the outlet where it is left out.
    by: ChargeBy | None = None
    # The most that it takes off, in minor units.
    cap: int | None = None
    # What a customer has to say.
    code: str | None = None
    from_: str | None = field(default=None, metadata={"json": "from"})
    # How many more it is for; 1 where it is left out.
    get: int | None = None
    # How often in all.
    limit: int | None = None
    # The least subtotal, in minor units.
    minimum: int | None = None
    # What of the menu it is for; everything where it is left out.
    of: Scope | None = None
    # How often for one customer.
    per_customer: int | None = field(default=None, metadata={"json": "perCustomer"})
    service: CartService | None = None
    until: str | None = None
    # How often, where it has a limit.
    used: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionInput:
    title: str
    on: PromotionOn
    # One of its members.
    give: GiftInput
    alone: bool | None = None
    buy: int | None = None
    by: ChargeBy | None = None
    # In minor units.
    cap: int | None = None
    code: str | None = None
    from_: str | None = field(default=None, metadata={"json": "from"})
    get: int | None = None
    id: str | None = None
    limit: int | None = None
    # In minor units.
    minimum: int | None = None
    of: ScopeInput | None = None
    per_customer: int | None = field(default=None, metadata={"json": "perCustomer"})
    service: CartService | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotions:
    outlet: str
    version: int
    promotions: list[Promotion]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionsSection:
    id: str
    kind: Literal["promotions"]
    header_title: str = field(metadata={"json": "headerTitle"})
    layout: Layout
    sticky: bool
    accessibility_id: str = field(metadata={"json": "accessibilityId"})
    item_accessibility_prefix: str = field(metadata={"json": "itemAccessibilityPrefix"})
    items: list[HomeItem]
    daypart: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenBatch:
    first_position: int = field(metadata={"json": "firstPosition"})
    last_position: int = field(metadata={"json": "lastPosition"})
    index: int
    size: int
    # Base64.
    path: str
    previous_chain_digest: str = field(metadata={"json": "previousChainDigest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenEvent:
    partition: int
    position: int
    stream: str
    version: int
    kind: str
    schema_version: int = field(metadata={"json": "schemaVersion"})
    # The bytes that were recorded.
    payload: str
    # The same.
    metadata: str
    recorded_at_milliseconds: int = field(metadata={"json": "recordedAtMilliseconds"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    cart: str
    outlet: str | None
    version: int
    currency: str | None
    # At today's prices.
    lines: list[CartLine]
    # In minor units.
    subtotal: int | None
    charges: list[Charge]
    # In minor units.
    total: int | None
    # What to check out with; null where that cannot be.
    quote: str | None
    codes: list[CartCode] | None = None
    # When the order is wanted.
    for_: str | None = field(default=None, metadata={"json": "for"})
    # In minor units.
    minimum_order: int | None = field(default=None, metadata={"json": "minimumOrder"})
    # What the cart was checked out as.
    order: str | None = None
    prep_minutes: int | None = field(default=None, metadata={"json": "prepMinutes"})
    # Why, as a code and a text.
    problem: str | None = None
    promised_for: str | None = field(default=None, metadata={"json": "promisedFor"})
    # What the checkout has to have.
    requires: list[QuoteRequire] | None = None
    service: CartService | None = None
    # The ways to choose from.
    services: list[CartService] | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    projection: str | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    # The number of its form.
    receipt: int
    partitions: int
    event: ProvenEvent
    batch: ProvenBatch
    tree: TreeProof
    # The note over the tree's root, as docs/audit.md has it; in forms 5 and 6.
    signed_head: str | None = field(default=None, metadata={"json": "signedHead"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundedTax:
    # In minor units.
    amount: int
    # What the tax was taken of, in minor units.
    base: int | None = None
    id: str | None = None
    # In thousandths of a percent.
    rate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    name: str
    partition: int
    position: int
    # How many are still to be sent.
    events: int
    # How many before these were refused, or wait for one that was.
    held_back: int = field(metadata={"json": "heldBack"})
    # How many before these it has given up.
    set_aside: int = field(metadata={"json": "setAside"})
    failure: str | None
    failed_at: str | None = field(metadata={"json": "failedAt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Relays:
    relays: list[Relay]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedUser:
    name: str
    removed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedItems:
    browse: str
    revision: int
    # How many match.
    total: int
    # The place of the first of them, from 0.
    from_: int = field(metadata={"json": "from"})
    items: list[FoundItem]
    state: SavedItemsState


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedOutlets:
    browse: str
    revision: int
    # How many match.
    total: int
    # The place of the first of them, from 0.
    from_: int = field(metadata={"json": "from"})
    items: list[FoundOutlet]
    state: SavedItemsState


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    items: list[str] | None = None
    sections: list[str] | None = None
    tags: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeInput:
    items: list[str] | None = None
    sections: list[str] | None = None
    tags: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionInput:
    title: str
    kind: MenuSectionKind
    daypart: str | None = None
    # Needed in a menu.
    id: str | None = None
    items: list[ItemInput] | None = None
    # That of the kind where it is left out.
    layout: LayoutInput | None = None
    sticky: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCharge:
    # In thousandths of a percent.
    rate: int
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceInput:
    # In thousandths of a percent.
    rate: int
    tax: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePrices:
    # In minor units.
    delivery: int | None = None
    # In minor units.
    pickup: int | None = None
    # In minor units.
    table: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSum:
    service: CartService | None
    sold: MovementSum
    cancelled: MovementSum
    refunded: MovementSum
    # Less what was cancelled and given back.
    net: NetSum
    changed: MovementSum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    # Null where there are no users.
    user: str | None
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedHead:
    partition: int
    # Where its last batch ends.
    position: int
    # With the signatures, as docs/audit.md has it.
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    at: str
    # The same by the outlet's clocks.
    local: str
    # How many orders it still takes.
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRule:
    minutes: int
    # The most in one slot.
    orders: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    outlet: str
    service: CartService | None
    date: str
    # How far apart slots are.
    minutes: int | None
    slots: list[Slot]
    # The most in one slot.
    orders: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsInput:
    minutes: int
    # The most in one slot.
    orders: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCommand:
    id: int
    at: str
    microseconds: int
    words: list[str]
    address: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCommands:
    commands: list[SlowCommand]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialDay:
    date: str
    hours: list[OpeningPeriod]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialDayInput:
    date: str
    hours: list[PeriodInput]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    outlet: str
    version: int
    stock: list[StockRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class StockRow:
    kind: StockRowKind
    id: str
    left: int
    # By orders that the kitchen has not begun.
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagBar:
    # In points.
    height: int
    show_below: int = field(metadata={"json": "showBelow"})
    hide_above: int = field(metadata={"json": "hideAbove"})
    chips: list[Chip]


@dataclass(frozen=True, slots=True, kw_only=True)
class Takings:
    outlet: str
    currency: str
    time_zone: str = field(metadata={"json": "timeZone"})
    days: list[TakingsDay]
    sum: TakingsSum
    tax_included: bool | None = field(default=None, metadata={"json": "taxIncluded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingsDay:
    day: str
    from_: str = field(metadata={"json": "from"})
    until: str
    services: list[ServiceSum]
    payments: TakingsDayPayments
    # Less what was cancelled and given back.
    net: NetSum
    hours: list[TakingsHour] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingsDayPayments:
    authorised: PaymentSum | None = None
    captured: PaymentSum | None = None
    charged_back: PaymentSum | None = field(default=None, metadata={"json": "chargedBack"})
    failed: PaymentSum | None = None
    refunded: PaymentSum | None = None
    voided: PaymentSum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingsHour:
    from_: str = field(metadata={"json": "from"})
    services: list[ServiceSum]
    payments: TakingsDayPayments
    # Less what was cancelled and given back.
    net: NetSum


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingsSum:
    services: list[ServiceSum]
    payments: TakingsDayPayments
    # Less what was cancelled and given back.
    net: NetSum


@dataclass(frozen=True, slots=True, kw_only=True)
class Tax:
    id: str
    name: str
    # In thousandths of a percent.
    rate: int
    # Where they differ by service.
    rates: TaxRates | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxInput:
    id: str
    name: str
    # In thousandths of a percent.
    rate: int
    rates: TaxInputRates | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxInputRates:
    # In thousandths of a percent.
    delivery: int | None = None
    # In thousandths of a percent.
    pickup: int | None = None
    # In thousandths of a percent.
    table: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxRates:
    """Where they differ by service."""

    # In thousandths of a percent.
    delivery: int | None = None
    # In thousandths of a percent.
    pickup: int | None = None
    # In thousandths of a percent.
    table: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxSum:
    id: str | None
    # In thousandths of a percent.
    rate: int | None
    # In minor units.
    base: int
    # In minor units.
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    day: str
    # In minor units.
    net: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeProof:
    index: int
    size: int
    root: str
    # Base64.
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    name: str
    role: UserRole
    # What the user is confined to.
    only: list[str]
    enabled: bool
    # Whether there is one.
    password: bool
    # The beginnings of their digests.
    tokens: list[str]
    added_at: str = field(metadata={"json": "addedAt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    users: list[User]

AttributesValue: TypeAlias = str | float | bool | list[str] | dict[str, Any]

Attributes: TypeAlias = dict[str, AttributesValue]

HomeItem: TypeAlias = MenuItemCard | PromoCard | DessertCard | BadgeCard | dict[str, Any]

HomeSection: TypeAlias = MenuItemsSection | PromotionsSection | DessertsSection | dict[str, Any]

Information: TypeAlias = dict[str, dict[str, str]]

Layout: TypeAlias = ListLayout | HorizontalCardLayout | GridLayout | dict[str, Any]

ProveEventAnswer: TypeAlias = Receipt | LinkReceipt | dict[str, Any]

ReadLogAnswer: TypeAlias = list[Event] | FoundEvents | dict[str, Any]
