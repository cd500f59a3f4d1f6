// What both sites have. Written by Scripts/clients from docs/openapi.json.

import { Connection, segment, type Call, type Filters, type Write } from "./connection.js";
import { follow, question, type Following, type Update } from "./stream.js";
import type {
    CancelOrderBy, CartService, EndingCode, FoundItem, Home, Item, ItemPage, Menu, Order, OrderChangeInput, OrderPage,
    OrderProof, Outlet, OutletPage, ProveEventAnswer, ProveEventForm, SavedItems, SavedOutlets, SignedHead, Slots,
} from "./documents.js";

/** What the store and the console have in common. */
export abstract class Site {
    protected constructor(protected readonly connection: Connection) {}

    // Searching

    /** Returns a page of the items that match every filter. (BROWSE) */
    searchItems(
        filters: Filters = {},
        fields: {
            text?: string; cuisine?: string[]; city?: string[]; area?: string[]; outlet?: string[];
            currency?: string[]; kind?: string[]; tag?: string[]; price?: string; rating?: string; delivery?: string;
            open?: "1"; sort?: string; limit?: number; after?: string; facets?: string;
        } = {},
        call: Call = {},
    ): Promise<ItemPage> {
        return this.connection.call("GET", "/v1/browse", { query: { ...filters, ...fields }, call });
    }

    /** Returns a page of the outlets that match every filter. (OUTLETS) */
    searchOutlets(
        filters: Filters = {},
        fields: {
            text?: string; cuisine?: string[]; city?: string[]; area?: string[]; outlet?: string[];
            currency?: string[]; kind?: string[]; tag?: string[]; price?: string; rating?: string; delivery?: string;
            open?: "1"; sort?: string; limit?: number; after?: string; facets?: string;
        } = {},
        call: Call = {},
    ): Promise<OutletPage> {
        return this.connection.call("GET", "/v1/outlets", { query: { ...filters, ...fields }, call });
    }

    /** Returns one of the items that match every filter, each equally likely. (SURPRISE) */
    surpriseMe(
        filters: Filters = {},
        fields: {
            text?: string; cuisine?: string[]; city?: string[]; area?: string[]; outlet?: string[];
            currency?: string[]; kind?: string[]; tag?: string[]; price?: string; rating?: string; delivery?: string;
            open?: "1"; seed?: number;
        } = {},
        call: Call = {},
    ): Promise<FoundItem> {
        return this.connection.call("GET", "/v1/surprise", { query: { ...filters, ...fields }, call });
    }

    // Orders

    /** Returns a page of orders, now or as of a moment, the newest first. (ORDERS) */
    listOrders(
        fields: {
            outlet?: string; customer?: string; status?: string; from?: string; until?: string; after?: string;
            count?: number; at?: string;
        } = {},
        call: Call = {},
    ): Promise<OrderPage> {
        return this.connection.call("GET", "/v1/orders", { query: fields, call });
    }

    /** Returns an order, now or as of a moment. (ORDER.GET) */
    getOrder(order: string, fields: { at?: string } = {}, call: Call = {}): Promise<Order> {
        return this.connection.call("GET", `/v1/orders/${segment(order)}`, { query: fields, call });
    }

    /**
     * Agrees to what the other party proposed, by the digest of the bill after it; returns the order's version.
     * (ORDER.AGREE)
     */
    agreeToChange(order: string, fields: { digest: string }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/agree`, { body: fields, takes: "version", write: call },
        );
    }

    /** Ends an order that was not handed over; returns its version. (ORDER.CANCEL) */
    cancelOrder(
        order: string, fields: { by: CancelOrderBy; code: EndingCode; reason?: string }, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/cancel`, { body: fields, takes: "version", write: call },
        );
    }

    /**
     * Proposes to change what is ordered, or changes it if that was agreed beforehand; returns the order's version.
     * (ORDER.CHANGE)
     */
    changeOrder(
        order: string, document: OrderChangeInput, fields: { by: CancelOrderBy; within?: number }, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/change`,
            { query: fields, body: document, takes: "version", write: call },
        );
    }

    /**
     * Declines a change that the other party proposed, or withdraws one's own; returns the order's version.
     * (ORDER.DECLINE)
     */
    declineChange(order: string, fields: { by?: CancelOrderBy } = {}, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/decline`, { body: fields, takes: "version", write: call },
        );
    }

    /**
     * Returns a document that proves, without the log, what an order cost, and what was paid and given back.
     * (ORDER.PROVE)
     */
    proveOrder(order: string, call: Call = {}): Promise<OrderProof> {
        return this.connection.call("GET", `/v1/orders/${segment(order)}/proof`, { call });
    }

    // Menus

    /** Returns an item in full, with its large image. (ITEM.GET) */
    getItem(outlet: string, item: string, call: Call = {}): Promise<Item> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/items/${segment(item)}`, { call });
    }

    /** Returns an outlet's menu. (MENU.GET) */
    getMenu(outlet: string, call: Call = {}): Promise<Menu> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/menu`, { call });
    }

    // Outlets

    /** Returns an outlet's details. (OUTLET.GET) */
    getOutlet(outlet: string, call: Call = {}): Promise<Outlet> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}`, { call });
    }

    /** Returns an outlet's home, now or as of a moment: sections, tag bar and carousels. (OUTLET.HOME) */
    getHome(outlet: string, fields: { at?: string } = {}, call: Call = {}): Promise<Home> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/home`, { query: fields, call });
    }

    /** Returns the times of a day that orders at an outlet can be placed ahead for. (SLOTS) */
    listSlots(outlet: string, fields: { service?: CartService; date?: string } = {}, call: Call = {}): Promise<Slots> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/slots`, { query: fields, call });
    }

    // The log

    /** Returns the newest signed head of a partition of the log, with what witnesses have signed of it. (LOG.SIGNED) */
    getSignedHead(partition: string, call: Call = {}): Promise<SignedHead> {
        return this.connection.call("GET", `/v1/log/signed/${segment(partition)}`, { call });
    }

    /** Returns a receipt that proves, without the log, that an event is in it. (LOG.PROVE) */
    proveEvent(
        stream: string, version: string, fields: { head?: number; form?: ProveEventForm } = {}, call: Call = {},
    ): Promise<ProveEventAnswer> {
        return this.connection.call("GET", `/v1/proof/${segment(stream)}/${segment(version)}`, { query: fields, call });
    }

    // Documents that stay up to date

    /** An order. Each state of it from now on, as `Update` says. */
    followOrder(order: string, following: Following = {}): AsyncGenerator<Update<Order>, void, undefined> {
        return follow(this.connection, `order:${order}`, following);
    }

    /** An outlet's home. Each state of it from now on, as `Update` says. */
    followHome(outlet: string, following: Following = {}): AsyncGenerator<Update<Home>, void, undefined> {
        return follow(this.connection, `home:${outlet}`, following);
    }

    /** The first items that match every filter. Each state of it from now on, as `Update` says. */
    followItems(filters: Filters, following: Following = {}): AsyncGenerator<Update<SavedItems>, void, undefined> {
        return follow(this.connection, question("browse", filters), following);
    }

    /** The first outlets that match every filter. Each state of it from now on, as `Update` says. */
    followOutlets(filters: Filters, following: Following = {}): AsyncGenerator<Update<SavedOutlets>, void, undefined> {
        return follow(this.connection, question("outlets", filters), following);
    }
}
