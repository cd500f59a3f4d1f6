// The documents of the API. Written by Scripts/clients from docs/openapi.json.

export interface ArrivalInput {
    item: string;
    quantity: number;
    /** Such as large,cheese*2. */
    options?: string;
}

export type Attributes = Record<string, AttributesValue>;

export type AttributesValue = string | number | boolean | string[];

export interface BadgeCard {
    id: string;
    kind: "badge";
    model: BadgeModel;
}

export interface BadgeModel {
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    currency: string;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    label: string | null;
    points: number | null;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasLinks?: boolean;
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: CardPromotion;
}

export interface Bill {
    /** In minor units. */
    total: number;
    digest: string;
    charges?: Charge[];
    lines?: BillLine[];
}

export interface BillLine {
    /** Its id in the cart. */
    line: string;
    item: string;
    name: string;
    quantity: number;
    /** In minor units. */
    unitPrice: number;
    options: LineOption[];
    note: string | null;
    /** In minor units. */
    total: number | null;
}

export type CancelOrderBy = "customer" | "merchant";

export interface CardPromotion {
    id: string;
    state: CardPromotionState;
    code?: string;
    from?: string;
    until?: string;
}

export type CardPromotionState = "open" | "spent" | "ended";

export interface Cart {
    cart: string;
    outlet: string | null;
    version: number;
    status: CartStatus;
    count: number;
    currency: string | null;
    lines: CartLine[];
    /** In minor units. */
    subtotal: number;
    /** In minor units. */
    total: number;
    updatedAt: string;
    /** Once it is checked out. */
    charges?: Charge[];
    /** What the customer said, and what became of it. */
    codes?: CartCode[];
    customer?: string;
    /** When the order is wanted. */
    for?: string;
    /** What it was checked out as. */
    order?: string;
    service?: CartService;
    table?: string;
    /** In minor units. */
    tip?: number;
}

export interface CartCode {
    code: string;
    state: CartCodeState;
}

export type CartCodeState = "applied" | "minimum" | "nothing" | "later" | "ended" | "spent" | "customer";

export interface CartLine {
    /** Its id in the cart. */
    line: string;
    item: string;
    name: string;
    quantity: number;
    /** In minor units. */
    unitPrice: number;
    options: LineOption[];
    note: string | null;
    /** In minor units. */
    total: number | null;
    /** What keeps it from being ordered as it is. */
    problem: LineProblem | null;
}

export type CartService = "pickup" | "delivery" | "table";

export type CartStatus = "empty" | "open" | "checkingOut" | "checkedOut";

export interface Charge {
    kind: ChargeKind;
    /** Below 0 for a discount, in minor units. */
    amount: number;
    /** Whether other prices have it already. */
    included: boolean;
    /** What falls on each line, then on each charge before the taxes. */
    shares: number[];
    /** What a tax was taken of, in minor units. */
    base?: number;
    /** What a tax was taken of, of each line and charge. */
    bases?: number[];
    /** Who pays for a discount. */
    by?: ChargeBy;
    /** Of a tax, its id; of a discount, that of its promotion. */
    id?: string;
    /** What receipts call it. */
    name?: string;
    /** In thousandths of a percent. */
    rate?: number;
}

export type ChargeBy = "outlet" | "platform";

export type ChargeKind = "service" | "smallOrder" | "delivery" | "tax" | "tip" | "discount";

export interface ChargesInput {
    delivery?: FeeInput;
    service?: ServiceInput;
    smallOrder?: FeeInput;
}

export interface Chip {
    id: string;
    section: string;
    title: string;
}

export interface Clients {
    /** In the words of CLIENT LIST. */
    clients: Record<string, string>[];
}

export interface Daypart {
    id: string;
    hours: OpeningHours[];
}

export interface DaypartInput {
    id: string;
    hours: HoursInput[];
}

export interface Debt {
    by: DebtBy;
    to: DebtTo;
    /** In minor units. */
    amount: number;
}

export type DebtBy = "outlet" | "customer";

export type DebtTo = "outlet" | "customer";

export interface Delay {
    event: string;
    /** Milliseconds. */
    maximum: number;
    samples: DelaySample[];
}

export interface Delays {
    events: Delay[];
}

export interface DelaySample {
    at: string;
    milliseconds: number;
}

export interface DessertCard {
    id: string;
    kind: "dessert";
    model: DessertModel;
}

export interface DessertModel {
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    currency: string;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    addButtonAccessibilityId: string;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasLinks?: boolean;
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: CardPromotion;
}

export interface DessertsSection {
    id: string;
    kind: "desserts";
    headerTitle: string;
    layout: Layout;
    sticky: boolean;
    accessibilityId: string;
    itemAccessibilityPrefix: string;
    items: HomeItem[];
    daypart?: string;
}

export interface DiscountSum {
    by: ChargeBy;
    /** In minor units. */
    amount: number;
}

export interface EarlierTree {
    size: number;
    root: string;
    /** Base64. */
    path: string;
}

export interface Ending {
    by: EndingBy;
    code: EndingCode;
    reason: string | null;
}

export type EndingBy = "customer" | "merchant" | "system";

export type EndingCode = "ITEMS" | "CLOSED" | "BUSY" | "NOTE" | "CUSTOMER" | "UNPAID" | "TIMEOUT" | "OTHER";

export interface Event {
    partition: number;
    position: number;
    stream: string;
    /** Of the stream. */
    version: number;
    kind: string;
    /** Of the kind's payload. */
    schemaVersion: number;
    /** By kind and schemaVersion, as docs/events.md has it. */
    payload: Record<string, unknown>;
    metadata: EventMetadata;
    recordedAt: string;
}

export interface EventMetadata {
    /** Who gave it. */
    actor?: string;
    /** A fingerprint of its arguments, in hexadecimal. */
    args?: string;
    /** What the server did it for: a stream and a version, order-x@3. */
    cause?: string;
    /** What the client says besides, where the actor had logged in. */
    claim?: string | null;
    /** What commands of one thing share. */
    flow?: string;
    /** The ID of the command. */
    id?: string;
    /** Where it belongs in a trace: a traceparent of W3C Trace Context. */
    trace?: string;
}

export interface FacetBand {
    from: number;
    to: number;
    count: number;
}

export interface Facets {
    areas?: FacetValue[];
    cities?: FacetValue[];
    cuisines?: FacetValue[];
    currencies?: FacetValue[];
    deliveryMinutes?: NumberFacet | null;
    kinds?: FacetValue[];
    prices?: NumberFacet | null;
    ratings?: NumberFacet | null;
    tags?: FacetValue[];
}

export interface FacetValue {
    value: string;
    count: number;
}

export interface Fee {
    /** In minor units. */
    fee: number;
    /** From what subtotal on it is not charged, in minor units. */
    freeFrom?: number;
    tax?: string;
}

export interface Feed {
    state: HomeState;
    checkedAt: string;
    refreshedAt: string | null;
    problems: string[];
    source: string | null;
    etag: string | null;
    modified: string | null;
    key: string | null;
}

export interface FeedState {
    state: HomeState;
    checkedAt: string;
    refreshedAt: string | null;
    problems: string[];
}

export interface FeeInput {
    /** In minor units. */
    fee: number;
    /** In minor units. */
    freeFrom?: number;
    tax?: string;
}

export interface Forgetting {
    customers: ForgottenCustomer[];
    /** What is left to be done, for people. */
    remainder: string | null;
}

export interface ForgottenCustomer {
    customer: string;
    destroyedKeys: number;
    /** Since when the customer was forgotten already. */
    forgottenBefore: string | null;
}

export interface FoundEvents {
    events: Event[];
    /** How far it was looked. */
    to: number;
    /** Where to go on; null at the end. */
    next: number | null;
}

export interface FoundItem {
    outlet: string;
    item: string;
    kind: ItemKind;
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    currency: string;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    outletName: string;
    city: string | null;
    area: string | null;
    /** From 0 to 5. */
    rating: number | null;
    deliveryMinutes: number | null;
    status: OutletStatus;
    delayedUntil?: string;
    delayMinutes?: number;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasLinks?: boolean;
    hasOptions?: boolean;
    opensAt?: string;
    pausedUntil?: string;
    pauseReason?: string | null;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
}

export interface FoundOutlet {
    id: string;
    name: string;
    city: string | null;
    area: string | null;
    address: string | null;
    currency: string;
    timeZone: string;
    cuisines: string[];
    /** In minor units. */
    priceForTwo: number | null;
    /** From 0 to 5. */
    rating: number | null;
    ratingCount: number | null;
    deliveryMinutes: number | null;
    /** In minor units. */
    minimumOrder: number | null;
    hours: OpeningHours[];
    status: OutletStatus;
    /** Seconds. */
    acceptWithin?: number;
    charges?: OutletCharges;
    dayparts?: Daypart[];
    /** HH:MM; past midnight the hours go on, 25:30. */
    dayStarts?: string;
    delayedUntil?: string;
    delayMinutes?: number;
    /** What opens and closes it. */
    follows?: OutletFollows;
    opensAt?: string;
    orderAheadDays?: number;
    pausedUntil?: string;
    pauseReason?: string | null;
    payment?: OutletPayment;
    /** Seconds. */
    payWithin?: number;
    prepMinutes?: number;
    /** The ways to have an order. */
    services?: OutletServices;
    slots?: SlotRule;
    specialDays?: SpecialDay[];
    taxes?: Tax[];
    /** Whether prices have the taxes already. */
    taxIncluded?: boolean;
}

export interface Gift {
    /** In minor units. */
    amount?: number;
    /** In thousandths of a percent. */
    percent?: number;
    /** In minor units. */
    price?: number;
}

export interface GiftInput {
    /** In minor units. */
    amount?: number;
    /** In thousandths of a percent. */
    percent?: number;
    /** In minor units. */
    price?: number;
}

export interface GridLayout {
    style: "grid";
    /** Of a card. */
    minimumWidth: number;
}

export interface GroupInput {
    title: string;
    options: OptionInput[];
    free?: number;
    /** Needed in a menu. */
    id?: string;
    max?: number;
    min?: number;
    setsPrice?: boolean;
}

export interface Home {
    outlet: HomeOutlet;
    revision: number;
    state: HomeState;
    tagBar: TagBar;
    sections: HomeSection[];
    /** Where a cart was asked for. */
    cartCount?: number;
    feed?: FeedState;
}

export type HomeItem = MenuItemCard | PromoCard | DessertCard | BadgeCard;

export interface HomeOutlet {
    id: string;
    name: string;
    city: string | null;
    area: string | null;
    address: string | null;
    currency: string;
    timeZone: string;
    cuisines: string[];
    /** In minor units. */
    priceForTwo: number | null;
    /** From 0 to 5. */
    rating: number | null;
    ratingCount: number | null;
    deliveryMinutes: number | null;
    /** In minor units. */
    minimumOrder: number | null;
    hours: OpeningHours[];
    status: OutletStatus;
    accessibilityId: string;
    /** Seconds. */
    acceptWithin?: number;
    charges?: OutletCharges;
    dayparts?: Daypart[];
    /** HH:MM; past midnight the hours go on, 25:30. */
    dayStarts?: string;
    delayedUntil?: string;
    delayMinutes?: number;
    /** What opens and closes it. */
    follows?: OutletFollows;
    /** Whether no search finds it. */
    hidden?: boolean;
    opensAt?: string;
    orderAheadDays?: number;
    pausedUntil?: string;
    pauseReason?: string | null;
    payment?: OutletPayment;
    /** Seconds. */
    payWithin?: number;
    prepMinutes?: number;
    /** The ways to have an order. */
    services?: OutletServices;
    slots?: SlotRule;
    specialDays?: SpecialDay[];
    taxes?: Tax[];
    /** Whether prices have the taxes already. */
    taxIncluded?: boolean;
}

export type HomeSection = MenuItemsSection | PromotionsSection | DessertsSection;

export type HomeState = "ready" | "empty" | "malformed";

export interface HorizontalCardLayout {
    style: "horizontalCard";
    /** Of a card. */
    width: number;
    /** Of a card. */
    height: number;
}

export interface HoursInput {
    day: OpeningHoursDay;
    /** HH:MM; past midnight the hours go on, 25:30. */
    opens: string;
    /** HH:MM; past midnight the hours go on, 25:30. */
    closes: string;
}

export interface Image {
    url: string;
    alt: string | null;
}

export type Information = Record<string, Record<string, string>>;

export interface Item {
    outlet: string;
    section: string;
    id: string;
    kind: ItemKind;
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    imageLarge: string | null;
    images: Image[];
    links: Link[];
    maxQuantity: number | null;
    /** Its groups. */
    options: string[];
    attributes: Attributes;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    currency: string;
    combo?: boolean;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    groups?: OptionGroup[];
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: string;
    tax?: string;
}

export interface ItemInput {
    kind: ItemKind;
    name: string;
    /** As docs/menus.md has them. */
    attributes?: Record<string, unknown>;
    combo?: boolean;
    cuisine?: string;
    daypart?: string;
    description?: string;
    /** As an item shows it: then its price is not read. */
    from?: boolean;
    /** Needed in a menu. */
    id?: string;
    imageLarge?: string;
    images?: Image[];
    imageSmall?: string;
    links?: Link[];
    maxQuantity?: number;
    /** Its groups. */
    options?: string[];
    /** In minor units. */
    price?: number;
    prices?: ItemInputPrices;
    promotion?: string;
    tags?: string[];
    tax?: string;
}

export interface ItemInputPrices {
    /** In minor units. */
    delivery?: number;
    /** In minor units. */
    pickup?: number;
    /** In minor units. */
    table?: number;
}

export type ItemKind = "menuItem" | "promo" | "dessert" | "badge";

export interface ItemPage {
    /** How many match. */
    total: number;
    items: FoundItem[];
    /** What to send as after; null at the end. */
    next: string | null;
    facets: Facets | null;
    state: ItemPageState;
    /** Texts that would match. */
    suggestions?: string[];
}

export type ItemPageState = "ready" | "empty" | "noMenu";

export interface Kitchen {
    outlet: string;
    /** How many orders there are, shown or not. */
    count: number;
    orders: KitchenOrder[];
    /** False where new orders will not be among them. */
    followed?: boolean;
}

export interface KitchenLine {
    line: string;
    item: string;
    name: string;
    quantity: number;
    options: LineOption[];
    note: string | null;
}

export interface KitchenOrder {
    order: string;
    version: number;
    status: OrderStatus;
    late: boolean;
    /** Whether its payment fell away. */
    uncovered: boolean;
    count: number;
    lines: KitchenLine[];
    acceptBy?: string;
    address?: string;
    /** Of which nobody took note yet. */
    changes?: OrderChange[];
    customer?: string;
    ending?: Ending;
    /** What to do if something is missing; ask where it is left out. */
    missing?: OrderMissing;
    name?: string;
    payBy?: string;
    phone?: string;
    placedAt?: string;
    /** What the customer was told. */
    promisedFor?: string;
    proposal?: OrderChange;
    /** What the kitchen said. */
    readyBy?: string;
    /** When the kitchen sees it. */
    releaseAt?: string;
    service?: CartService;
    table?: string;
}

export type Layout = ListLayout | HorizontalCardLayout | GridLayout;

export interface LayoutInput {
    style: LayoutInputStyle;
    /** Of a card. */
    height?: number;
    /** Of a card. */
    minimumWidth?: number;
    /** Of a card. */
    width?: number;
}

export type LayoutInputStyle = "list" | "horizontalCard" | "grid";

export interface LineChange {
    line: string;
    name: string;
    from: number;
    to: number;
    /** The line in whose place it is. */
    replaces?: string;
}

export interface LineInput {
    line: string;
    /** What comes in place of the rest. */
    by?: ArrivalInput;
    /** How many are left; needed without by. */
    quantity?: number;
}

export interface LineOption {
    id: string;
    name: string;
    units: number;
    /** Of one unit, in minor units. */
    price: number;
    /** How many units cost nothing. */
    free: number;
}

export interface LineProblem {
    code: LineProblemCode;
    availableFrom?: string | null;
    /** When it can be had. */
    daypart?: string;
    group?: string;
    max?: number;
    min?: number;
    option?: string;
    tax?: string;
    /** What one costs now, in minor units. */
    unitPrice?: number;
}

export type LineProblemCode =
    | "PRICECHANGED" | "SOLDOUT" | "CLOSED" | "GONE" | "OPTIONGONE" | "OPTIONSOLDOUT" | "CHOICE" | "TAXGONE";

export interface Link {
    /** What it is to the item. */
    rel: string;
    url: string;
    title: string | null;
}

export interface LinkedBatch {
    firstPosition: number;
    lastPosition: number;
    index: number;
    size: number;
    path: string[];
    contentDigest: string;
    previousChainDigest: string;
    chainDigest: string;
}

export interface LinkedHead {
    position: number;
    digest: string;
    links: string[];
}

export interface LinkReceipt {
    /** The number of its form. */
    receipt: number;
    partitions: number;
    event: ProvenEvent;
    batch: LinkedBatch;
    head: LinkedHead | null;
}

export interface ListLayout {
    style: "list";
}

export interface LogHead {
    partition: number;
    position: number;
    digest: string;
}

export interface LogTree {
    /** The number of its form. */
    tree: number;
    partition: number;
    position: number;
    digest: string;
    size: number;
    root: string;
    /** Base64. */
    path: string;
    since: EarlierTree | null;
}

export interface Menu {
    outlet: string;
    version: number;
    sections: MenuSection[];
    /** The source that it is imported from. */
    feed?: FeedState;
    groups?: OptionGroup[];
}

export interface MenuInput {
    sections: SectionInput[];
    groups?: GroupInput[];
}

export interface MenuItem {
    id: string;
    kind: ItemKind;
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    imageLarge: string | null;
    images: Image[];
    links: Link[];
    maxQuantity: number | null;
    /** Its groups. */
    options: string[];
    attributes: Attributes;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    combo?: boolean;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: string;
    tax?: string;
}

export interface MenuItemCard {
    id: string;
    kind: "menuItem";
    model: MenuItemModel;
}

export interface MenuItemModel {
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    currency: string;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasLinks?: boolean;
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: CardPromotion;
}

export interface MenuItemsSection {
    id: string;
    kind: "menuItems";
    headerTitle: string;
    layout: Layout;
    sticky: boolean;
    accessibilityId: string;
    itemAccessibilityPrefix: string;
    items: HomeItem[];
    daypart?: string;
}

export interface MenuOption {
    id: string;
    name: string;
    /** In minor units. */
    price: number;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    /** How many units are chosen at first. */
    default?: number;
    /** Groups that it opens. */
    groups?: string[];
    /** The item that it is, in a combo. */
    item?: string;
    /** The most units; 1 where it is left out. */
    max?: number;
    /** By the size or the way to have the order. */
    prices?: Record<string, number>;
    tax?: string;
}

export interface MenuSection {
    id: string;
    title: string;
    kind: MenuSectionKind;
    layout: Layout;
    sticky: boolean;
    items: MenuItem[];
    daypart?: string;
}

export type MenuSectionKind = "menuItems" | "promotions" | "desserts";

export interface MovementSum {
    count: number;
    /** In minor units. */
    total: number;
    taxes: TaxSum[];
    /** In minor units. */
    delivery?: number;
    discounts?: DiscountSum[];
    /** In minor units. */
    lines?: number;
    /** In minor units. */
    service?: number;
    /** In minor units. */
    smallOrder?: number;
    /** In minor units. */
    tip?: number;
}

export interface NetSum {
    /** In minor units. */
    total: number;
    taxes: TaxSum[];
}

export interface NewToken {
    name: string;
    /** Shown this once. */
    token: string;
}

export interface NumberFacet {
    min: number | null;
    max: number | null;
    bands: FacetBand[];
}

export interface OfferedService {
    charges?: OutletCharges;
    hours?: OpeningHours[];
    /** In minor units. */
    minimumOrder?: number;
    prepMinutes?: number;
    /** What an order has to have. */
    requires?: QuoteRequire[];
}

export interface OfferedServiceInput {
    charges?: ChargesInput;
    hours?: HoursInput[];
    /** In minor units. */
    minimumOrder?: number;
    prepMinutes?: number;
    requires?: QuoteRequire[];
}

export interface OpeningHours {
    day: OpeningHoursDay;
    /** HH:MM; past midnight the hours go on, 25:30. */
    opens: string;
    /** HH:MM; past midnight the hours go on, 25:30. */
    closes: string;
}

export type OpeningHoursDay = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";

export interface OpeningPeriod {
    /** HH:MM; past midnight the hours go on, 25:30. */
    opens: string;
    /** HH:MM; past midnight the hours go on, 25:30. */
    closes: string;
}

export interface OptionGroup {
    id: string;
    title: string;
    /** The fewest units to choose. */
    min: number;
    /** The most. */
    max: number;
    options: MenuOption[];
    /** How many units cost nothing. */
    free?: number;
    /** Whether the options are the item's sizes, and have its prices. */
    setsPrice?: boolean;
}

export interface OptionInput {
    id: string;
    name: string;
    default?: number;
    groups?: string[];
    item?: string;
    max?: number;
    /** In minor units. */
    price?: number;
    /** By the size or the way to have the order. */
    prices?: Record<string, number>;
    tax?: string;
}

export interface Order {
    order: string;
    cart: string;
    outlet: string;
    version: number;
    status: OrderStatus;
    count: number;
    currency: string;
    lines: OrderLine[];
    /** In minor units. */
    subtotal: number | null;
    charges: Charge[];
    /** In minor units. */
    total: number;
    updatedAt: string;
    acceptBy?: string;
    address?: string;
    changes?: OrderChange[];
    customer?: string;
    ending?: Ending;
    /** What to do if something is missing; ask where it is left out. */
    missing?: OrderMissing;
    name?: string;
    payBy?: string;
    payment?: OrderPayment;
    phone?: string;
    placedAt?: string;
    /** How it changed. */
    promise?: PromiseChange[];
    /** What the customer was told. */
    promisedFor?: string;
    /** A change that somebody has to agree to. */
    proposal?: OrderChange;
    /** What the kitchen said. */
    readyBy?: string;
    /** What was given back, in minor units. */
    refunded?: number;
    /** In minor units. */
    refundedTax?: number;
    refundedTaxes?: RefundedTax[];
    /** When the kitchen sees it. */
    releaseAt?: string;
    service?: CartService;
    table?: string;
}

export interface OrderChange {
    by: EndingBy;
    change: LineChange[];
    before: Bill;
    after: Bill;
    declinedBy?: OrderChangeDeclinedBy;
    /** What became of it; left out of a proposal. */
    state?: OrderChangeState;
    until?: string;
}

export type OrderChangeDeclinedBy = "customer" | "merchant" | "system";

export interface OrderChangeInput {
    /** What comes in. */
    add?: ArrivalInput[];
    /** What is left of lines. */
    lines?: LineInput[];
}

export type OrderChangeState = "open" | "agreed" | "declined" | "expired" | "ended";

export interface OrderLine {
    /** Its id in the cart. */
    line: string;
    item: string;
    name: string;
    quantity: number;
    /** In minor units. */
    unitPrice: number;
    options: LineOption[];
    note: string | null;
    /** In minor units. */
    total: number | null;
    /** Of how many the money was given back. */
    refunded?: number;
}

export type OrderMissing = "remove" | "replace" | "ask" | "cancel";

export interface OrderPage {
    orders: OrderRow[];
    /** What to send as after; null at the end. */
    next: string | null;
}

export interface OrderPayment {
    state: OrderPaymentState | null;
    /** In minor units. */
    authorised: number;
    /** In minor units. */
    captured: number;
    /** In minor units. */
    refunded: number;
    /** In minor units. */
    chargedBack: number;
    /** In minor units. */
    paid: number;
    /** In minor units. */
    secured: number;
    /** What the customer has to pay, in minor units. */
    due: number;
    /** What the outlet has to give back, in minor units. */
    owed: number;
    debt?: Debt;
    /** Reports that cannot be. */
    doubt?: PaymentDoubt[];
}

export type OrderPaymentState = "authorised" | "captured" | "voided" | "refunded" | "chargedBack" | "failed";

export interface OrderProof {
    /** The version of this form. */
    proof: number;
    order: string;
    /** Of each event of the order, in one tree. */
    receipts: Receipt[];
}

export interface OrderRow {
    order: string;
    outlet: string;
    customer: string | null;
    version: number;
    status: OrderStatus;
    count: number;
    currency: string;
    /** In minor units. */
    total: number;
    /** In minor units. */
    tax: number;
    /** In minor units. */
    refunded: number;
    /** In minor units. */
    refundedTax: number;
    /** In minor units. */
    paid: number;
    /** Whether a payment was reported that cannot be. */
    doubt: boolean;
    placedAt: string;
    updatedAt: string;
    service?: CartService;
}

export type OrderStatus =
    | "awaitingPayment" | "scheduled" | "placed" | "accepted" | "preparing" | "ready" | "completed" | "rejected"
    | "cancelled";

export interface Outlet {
    id: string;
    name: string;
    city: string | null;
    area: string | null;
    address: string | null;
    currency: string;
    timeZone: string;
    cuisines: string[];
    /** In minor units. */
    priceForTwo: number | null;
    /** From 0 to 5. */
    rating: number | null;
    ratingCount: number | null;
    deliveryMinutes: number | null;
    /** In minor units. */
    minimumOrder: number | null;
    hours: OpeningHours[];
    status: OutletStatus;
    version: number;
    /** Seconds. */
    acceptWithin?: number;
    charges?: OutletCharges;
    dayparts?: Daypart[];
    /** HH:MM; past midnight the hours go on, 25:30. */
    dayStarts?: string;
    delayedUntil?: string;
    delayMinutes?: number;
    /** What opens and closes it. */
    follows?: OutletFollows;
    /** Whether no search finds it. */
    hidden?: boolean;
    opensAt?: string;
    orderAheadDays?: number;
    pausedUntil?: string;
    pauseReason?: string | null;
    payment?: OutletPayment;
    /** Seconds. */
    payWithin?: number;
    prepMinutes?: number;
    /** The ways to have an order. */
    services?: OutletServices;
    slots?: SlotRule;
    specialDays?: SpecialDay[];
    taxes?: Tax[];
    /** Whether prices have the taxes already. */
    taxIncluded?: boolean;
}

export interface OutletCharges {
    delivery?: Fee;
    service?: ServiceCharge;
    smallOrder?: Fee;
}

export type OutletFollows = "commands" | "hours";

export interface OutletInput {
    name: string;
    /** ISO 4217. */
    currency: string;
    /** Of IANA. */
    timeZone: string;
    /** In seconds. */
    acceptWithin?: number;
    address?: string;
    area?: string;
    charges?: ChargesInput;
    city?: string;
    cuisines?: string[];
    dayparts?: DaypartInput[];
    /** HH:MM; past midnight the hours go on, 25:30. */
    dayStarts?: string;
    deliveryMinutes?: number;
    follows?: OutletFollows;
    hours?: HoursInput[];
    /** In minor units. */
    minimumOrder?: number;
    orderAheadDays?: number;
    payment?: OutletPayment;
    /** In seconds. */
    payWithin?: number;
    prepMinutes?: number;
    /** In minor units. */
    priceForTwo?: number;
    /** From 0 to 5. */
    rating?: number;
    ratingCount?: number;
    services?: OutletInputServices;
    slots?: SlotsInput;
    specialDays?: SpecialDayInput[];
    taxes?: TaxInput[];
    taxIncluded?: boolean;
}

export interface OutletInputServices {
    delivery?: OfferedServiceInput;
    pickup?: OfferedServiceInput;
    table?: OfferedServiceInput;
}

export interface OutletPage {
    /** How many match. */
    total: number;
    items: FoundOutlet[];
    /** What to send as after; null at the end. */
    next: string | null;
    facets: Facets | null;
    state: ItemPageState;
    /** Texts that would match. */
    suggestions?: string[];
}

export type OutletPayment = "none" | "first";

/** The ways to have an order. */
export interface OutletServices {
    delivery?: OfferedService;
    pickup?: OfferedService;
    table?: OfferedService;
}

export type OutletStatus = "open" | "closed" | "paused";

export interface OwnOutlet {
    id: string;
    name: string;
    city: string | null;
    area: string | null;
    currency: string;
    timeZone: string;
    status: OutletStatus;
    version: number;
    openOrders: number;
    lateOrders: number;
    today: Today | null;
    delayedUntil?: string;
    delayMinutes?: number;
    hidden?: boolean;
    opensAt?: string;
    pausedUntil?: string;
    pauseReason?: string | null;
}

export interface OwnOutlets {
    outlets: OwnOutlet[];
    /** What to send as after; null at the end. */
    next: string | null;
}

export interface PaymentDoubt {
    ref: string;
    kind: PaymentDoubtKind;
    why: PaymentDoubtWhy;
}

export type PaymentDoubtKind = "authorised" | "captured" | "voided" | "refunded" | "chargedBack" | "failed";

export type PaymentDoubtWhy = "parent" | "excess";

export interface PaymentSum {
    count: number;
    /** In minor units. */
    amount: number;
}

export interface PeriodInput {
    /** HH:MM; past midnight the hours go on, 25:30. */
    opens: string;
    /** HH:MM; past midnight the hours go on, 25:30. */
    closes: string;
}

export interface PromiseChange {
    from: string | null;
    to: string | null;
    reason: string | null;
}

export interface PromoCard {
    id: string;
    kind: "promo";
    model: PromoModel;
}

export interface PromoModel {
    name: string;
    description: string | null;
    /** Null where it cannot be ordered, in minor units. */
    price: number | null;
    currency: string;
    cuisine: string | null;
    tags: string[];
    imageSmall: string | null;
    available: boolean;
    /** When it can be again, if that is known. */
    availableFrom: string | null;
    daypart?: string;
    /** Whether it is the lowest of several. */
    from?: boolean;
    hasLinks?: boolean;
    hasOptions?: boolean;
    /** Where they differ by the way to have the order. */
    prices?: ServicePrices;
    promotion?: CardPromotion;
}

export interface Promotion {
    id: string;
    title: string;
    on: PromotionOn;
    /** One of its members. */
    give: Gift;
    /** Whether it excludes others. */
    alone?: boolean;
    /** How many units are paid for. */
    buy?: number;
    /** Who pays; the outlet where it is left out. */
    by?: ChargeBy;
    /** The most that it takes off, in minor units. */
    cap?: number;
    /** What a customer has to say. */
    code?: string;
    from?: string;
    /** How many more it is for; 1 where it is left out. */
    get?: number;
    /** How often in all. */
    limit?: number;
    /** The least subtotal, in minor units. */
    minimum?: number;
    /** What of the menu it is for; everything where it is left out. */
    of?: Scope;
    /** How often for one customer. */
    perCustomer?: number;
    service?: CartService;
    until?: string;
    /** How often, where it has a limit. */
    used?: number;
}

export interface PromotionInput {
    title: string;
    on: PromotionOn;
    /** One of its members. */
    give: GiftInput;
    alone?: boolean;
    buy?: number;
    by?: ChargeBy;
    /** In minor units. */
    cap?: number;
    code?: string;
    from?: string;
    get?: number;
    id?: string;
    limit?: number;
    /** In minor units. */
    minimum?: number;
    of?: ScopeInput;
    perCustomer?: number;
    service?: CartService;
    until?: string;
}

export type PromotionOn = "items" | "order" | "delivery";

export interface Promotions {
    outlet: string;
    version: number;
    promotions: Promotion[];
}

export interface PromotionsSection {
    id: string;
    kind: "promotions";
    headerTitle: string;
    layout: Layout;
    sticky: boolean;
    accessibilityId: string;
    itemAccessibilityPrefix: string;
    items: HomeItem[];
    daypart?: string;
}

export type ProveEventAnswer = Receipt | LinkReceipt;

export type ProveEventForm = "tree" | "signed" | "links";

export interface ProvenBatch {
    firstPosition: number;
    lastPosition: number;
    index: number;
    size: number;
    /** Base64. */
    path: string;
    previousChainDigest: string;
}

export interface ProvenEvent {
    partition: number;
    position: number;
    stream: string;
    version: number;
    kind: string;
    schemaVersion: number;
    /** The bytes that were recorded. */
    payload: string;
    /** The same. */
    metadata: string;
    recordedAtMilliseconds: number;
}

export interface Quote {
    cart: string;
    outlet: string | null;
    version: number;
    currency: string | null;
    /** At today's prices. */
    lines: CartLine[];
    /** In minor units. */
    subtotal: number | null;
    charges: Charge[];
    /** In minor units. */
    total: number | null;
    /** What to check out with; null where that cannot be. */
    quote: string | null;
    codes?: CartCode[];
    /** When the order is wanted. */
    for?: string;
    /** In minor units. */
    minimumOrder?: number;
    /** What the cart was checked out as. */
    order?: string;
    prepMinutes?: number;
    /** Why, as a code and a text. */
    problem?: string;
    promisedFor?: string;
    /** What the checkout has to have. */
    requires?: QuoteRequire[];
    service?: CartService;
    /** The ways to choose from. */
    services?: CartService[];
    table?: string;
}

export type QuoteRequire = "name" | "phone" | "address" | "table";

export type ReadLogAnswer = Event[] | FoundEvents;

export interface Rebuild {
    projection: string | null;
    state: string;
}

export interface Receipt {
    /** The number of its form. */
    receipt: number;
    partitions: number;
    event: ProvenEvent;
    batch: ProvenBatch;
    tree: TreeProof;
    /** The note over the tree's root, as docs/audit.md has it; in forms 5 and 6. */
    signedHead?: string;
}

export interface RefundedTax {
    /** In minor units. */
    amount: number;
    /** What the tax was taken of, in minor units. */
    base?: number;
    id?: string;
    /** In thousandths of a percent. */
    rate?: number;
}

export interface Relay {
    name: string;
    partition: number;
    position: number;
    /** How many are still to be sent. */
    events: number;
    /** How many before these were refused, or wait for one that was. */
    heldBack: number;
    /** How many before these it has given up. */
    setAside: number;
    failure: string | null;
    failedAt: string | null;
}

export interface Relays {
    relays: Relay[];
}

export interface RemovedUser {
    name: string;
    removed: boolean;
}

export interface SavedItems {
    browse: string;
    revision: number;
    /** How many match. */
    total: number;
    /** The place of the first of them, from 0. */
    from: number;
    items: FoundItem[];
    state: SavedItemsState;
}

export type SavedItemsState = "ready" | "empty";

export interface SavedOutlets {
    browse: string;
    revision: number;
    /** How many match. */
    total: number;
    /** The place of the first of them, from 0. */
    from: number;
    items: FoundOutlet[];
    state: SavedItemsState;
}

export interface Scope {
    items?: string[];
    sections?: string[];
    tags?: string[];
}

export interface ScopeInput {
    items?: string[];
    sections?: string[];
    tags?: string[];
}

export interface SectionInput {
    title: string;
    kind: MenuSectionKind;
    daypart?: string;
    /** Needed in a menu. */
    id?: string;
    items?: ItemInput[];
    /** That of the kind where it is left out. */
    layout?: LayoutInput;
    sticky?: boolean;
}

export interface ServiceCharge {
    /** In thousandths of a percent. */
    rate: number;
    tax?: string;
}

export interface ServiceInput {
    /** In thousandths of a percent. */
    rate: number;
    tax?: string;
}

export interface ServicePrices {
    /** In minor units. */
    delivery?: number;
    /** In minor units. */
    pickup?: number;
    /** In minor units. */
    table?: number;
}

export interface ServiceSum {
    service: CartService | null;
    sold: MovementSum;
    cancelled: MovementSum;
    refunded: MovementSum;
    /** Less what was cancelled and given back. */
    net: NetSum;
    changed?: MovementSum;
}

export interface Session {
    /** Null where there are no users. */
    user: string | null;
    role: string;
}

export interface SignedHead {
    partition: number;
    /** Where its last batch ends. */
    position: number;
    /** With the signatures, as docs/audit.md has it. */
    note: string;
}

export interface Slot {
    at: string;
    /** The same by the outlet's clocks. */
    local: string;
    /** How many orders it still takes. */
    left?: number;
}

export interface SlotRule {
    minutes: number;
    /** The most in one slot. */
    orders?: number;
}

export interface Slots {
    outlet: string;
    service: CartService | null;
    date: string;
    /** How far apart slots are. */
    minutes: number | null;
    slots: Slot[];
    /** The most in one slot. */
    orders?: number;
}

export interface SlotsInput {
    minutes: number;
    /** The most in one slot. */
    orders?: number;
}

export interface SlowCommand {
    id: number;
    at: string;
    microseconds: number;
    words: string[];
    address: string;
    client: string;
}

export interface SlowCommands {
    commands: SlowCommand[];
}

export interface SpecialDay {
    date: string;
    hours: OpeningPeriod[];
}

export interface SpecialDayInput {
    date: string;
    hours: PeriodInput[];
}

export interface Stock {
    outlet: string;
    version: number;
    stock: StockRow[];
}

export interface StockRow {
    kind: StockRowKind;
    id: string;
    left: number;
    /** By orders that the kitchen has not begun. */
    held: number;
}

export type StockRowKind = "item" | "option" | "slot" | "promotion" | "customer";

export interface TagBar {
    /** In points. */
    height: number;
    showBelow: number;
    hideAbove: number;
    chips: Chip[];
}

export interface Takings {
    outlet: string;
    currency: string;
    timeZone: string;
    days: TakingsDay[];
    sum: TakingsSum;
    taxIncluded?: boolean;
}

export interface TakingsDay {
    day: string;
    from: string;
    until: string;
    services: ServiceSum[];
    payments: TakingsDayPayments;
    /** Less what was cancelled and given back. */
    net: NetSum;
    hours?: TakingsHour[];
}

export interface TakingsDayPayments {
    authorised?: PaymentSum;
    captured?: PaymentSum;
    chargedBack?: PaymentSum;
    failed?: PaymentSum;
    refunded?: PaymentSum;
    voided?: PaymentSum;
}

export interface TakingsHour {
    from: string;
    services: ServiceSum[];
    payments: TakingsDayPayments;
    /** Less what was cancelled and given back. */
    net: NetSum;
}

export interface TakingsSum {
    services: ServiceSum[];
    payments: TakingsDayPayments;
    /** Less what was cancelled and given back. */
    net: NetSum;
}

export interface Tax {
    id: string;
    name: string;
    /** In thousandths of a percent. */
    rate: number;
    /** Where they differ by service. */
    rates?: TaxRates;
}

export interface TaxInput {
    id: string;
    name: string;
    /** In thousandths of a percent. */
    rate: number;
    rates?: TaxInputRates;
}

export interface TaxInputRates {
    /** In thousandths of a percent. */
    delivery?: number;
    /** In thousandths of a percent. */
    pickup?: number;
    /** In thousandths of a percent. */
    table?: number;
}

/** Where they differ by service. */
export interface TaxRates {
    /** In thousandths of a percent. */
    delivery?: number;
    /** In thousandths of a percent. */
    pickup?: number;
    /** In thousandths of a percent. */
    table?: number;
}

export interface TaxSum {
    id: string | null;
    /** In thousandths of a percent. */
    rate: number | null;
    /** In minor units. */
    base: number;
    /** In minor units. */
    amount: number;
}

export interface Today {
    day: string;
    /** In minor units. */
    net: number;
}

export interface TreeProof {
    index: number;
    size: number;
    root: string;
    /** Base64. */
    path: string;
}

export interface User {
    name: string;
    role: UserRole;
    /** What the user is confined to. */
    only: string[];
    enabled: boolean;
    /** Whether there is one. */
    password: boolean;
    /** The beginnings of their digests. */
    tokens: string[];
    addedAt: string;
}

export type UserRole = "customer" | "merchant" | "auditor" | "admin";

export interface Users {
    users: User[];
}
