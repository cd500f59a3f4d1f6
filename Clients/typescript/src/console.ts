// The console, for merchants, auditors and admins. Written by Scripts/clients from docs/openapi.json.

import { Connection, Login, segment, type Call, type Write } from "./connection.js";
import { follow, type Following, type Update } from "./stream.js";
import type {
    Cart, Clients, Delays, EndingCode, Feed, Forgetting, GroupInput, Information, ItemInput, Kitchen, LogHead, LogTree,
    MenuInput, NewToken, OutletInput, OwnOutlets, PromotionInput, Promotions, ReadLogAnswer, Rebuild, Relays,
    RemovedUser, SectionInput, Session, SlowCommands, Stock, Takings, User, UserRole, Users,
} from "./documents.js";
import { Site } from "./site.js";

/** The console: a user, who has a name and a token; nobody needs them as long as there are no users. */
export class Console extends Site {
    /** `deadline` is how many milliseconds a call may take with all its attempts, unless the call has its own. */
    constructor(url = "http://127.0.0.1:7381", options: { user?: string; token?: string; deadline?: number } = {}) {
        super(new Connection(url, new Login(options.user, options.token), options.deadline ?? 30_000));
    }

    // Orders

    /** Takes an order on, to be ready at a time; returns its version. (ORDER.ACCEPT) */
    acceptOrder(order: string, fields: { ready?: string } = {}, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/accept`, { body: fields, takes: "version", write: call },
        );
    }

    /** Says that an order was handed over; returns its version. (ORDER.COMPLETE) */
    completeOrder(order: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/orders/${segment(order)}/complete`, { takes: "version", write: call });
    }

    /** Says when an order will be ready instead, and why; returns its version. (ORDER.DELAY) */
    delayOrder(order: string, fields: { ready: string; reason?: string }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/delay`, { body: fields, takes: "version", write: call },
        );
    }

    /** Says that the kitchen has seen what was changed; returns the order's version. (ORDER.NOTED) */
    noteChanges(order: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/orders/${segment(order)}/noted`, { takes: "version", write: call });
    }

    /** Records what a payment service reports of an order's money; returns the order's version. (ORDER.PAYMENT) */
    reportPayment(
        order: string, fields: { ref: string; state: string; amount: number; of?: string }, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/payments`, { body: fields, takes: "version", write: call },
        );
    }

    /** Says that an order is being cooked; returns its version. (ORDER.PREPARE) */
    prepareOrder(order: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/orders/${segment(order)}/prepare`, { takes: "version", write: call });
    }

    /** Says that an order can be fetched; returns its version. (ORDER.READY) */
    readyOrder(order: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/orders/${segment(order)}/ready`, { takes: "version", write: call });
    }

    /** Gives back some of a line, an amount, or all that is left; returns the order's version. (ORDER.REFUND) */
    refundOrder(
        order: string, fields: { code: EndingCode; amount?: number; line?: string; quantity?: number },
        call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/refunds`, { body: fields, takes: "version", write: call },
        );
    }

    /** Does not take an order on; returns its version. (ORDER.REJECT) */
    rejectOrder(order: string, fields: { code: EndingCode; reason?: string }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/orders/${segment(order)}/reject`, { body: fields, takes: "version", write: call },
        );
    }

    // Menus

    /** Returns what the source of a menu was last found to hold, in full. (MENU.FEED.GET) */
    getFeed(outlet: string, call: Call = {}): Promise<Feed> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/feed`, { call });
    }

    /** Removes a group of options that nothing names. (MENU.GROUP.REMOVE) */
    removeGroup(outlet: string, group: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "DELETE", `/v1/outlets/${segment(outlet)}/groups/${segment(group)}`, { takes: "version", write: call },
        );
    }

    /** Adds or changes a group of options that items offer. (MENU.GROUP.PUT) */
    putGroup(outlet: string, group: string, document: GroupInput, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/groups/${segment(group)}`,
            { body: document, takes: "version", write: call },
        );
    }

    /** Removes an item. (MENU.ITEM.REMOVE) */
    removeItem(outlet: string, item: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "DELETE", `/v1/outlets/${segment(outlet)}/items/${segment(item)}`, { takes: "version", write: call },
        );
    }

    /** Sets an item's price, in minor units. (MENU.ITEM.PRICE) */
    setItemPrice(outlet: string, item: string, fields: { price: number }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/items/${segment(item)}/price`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Makes a sold-out item available again. (MENU.ITEM.RESUME) */
    resumeItem(outlet: string, item: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/items/${segment(item)}/resume`, { takes: "version", write: call },
        );
    }

    /**
     * Says how many of an item can still be ordered, or adds some; without a number it is no longer counted.
     * (MENU.ITEM.STOCK)
     */
    setItemStock(
        outlet: string, item: string, fields: { add?: number; count?: number } = {}, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/items/${segment(item)}/stock`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Marks an item as sold out, until a time or until it is resumed. (MENU.ITEM.SUSPEND) */
    suspendItem(outlet: string, item: string, fields: { until?: string } = {}, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/items/${segment(item)}/suspend`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Replaces an outlet's menu, by as few changes as possible. (MENU.PUT) */
    putMenu(outlet: string, document: MenuInput, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/menu`, { body: document, takes: "version", write: call },
        );
    }

    /** Sets an option's price, in minor units, or its price with a size. (MENU.OPTION.PRICE) */
    setOptionPrice(
        outlet: string, option: string, fields: { price: number; size?: string }, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/options/${segment(option)}/price`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Makes a sold-out option available again. (MENU.OPTION.RESUME) */
    resumeOption(outlet: string, option: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/options/${segment(option)}/resume`,
            { takes: "version", write: call },
        );
    }

    /**
     * Says how many of an option can still be ordered, or adds some; without a number it is no longer counted.
     * (MENU.OPTION.STOCK)
     */
    setOptionStock(
        outlet: string, option: string, fields: { add?: number; count?: number } = {}, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/options/${segment(option)}/stock`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Marks an option as sold out, until a time or until it is resumed. (MENU.OPTION.SUSPEND) */
    suspendOption(outlet: string, option: string, fields: { until?: string } = {}, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/options/${segment(option)}/suspend`,
            { body: fields, takes: "version", write: call },
        );
    }

    /** Stores a picture for an outlet's menu; returns the path at which it is served. (PICTURE.PUT) */
    putPicture(outlet: string, picture: Blob, call: Call = {}): Promise<string> {
        return this.connection.call("PUT", `/v1/outlets/${segment(outlet)}/pictures`, { picture, takes: "path", call });
    }

    /** Removes a section with its items. (MENU.SECTION.REMOVE) */
    removeSection(outlet: string, section: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "DELETE", `/v1/outlets/${segment(outlet)}/sections/${segment(section)}`, { takes: "version", write: call },
        );
    }

    /** Adds or changes a section of a menu. (MENU.SECTION.PUT) */
    putSection(
        outlet: string, section: string, document: SectionInput, fields: { before?: string } = {}, call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/sections/${segment(section)}`,
            { query: fields, body: document, takes: "version", write: call },
        );
    }

    /** Adds or changes an item of a menu. (MENU.ITEM.PUT) */
    putItem(
        outlet: string, section: string, item: string, document: ItemInput, fields: { before?: string } = {},
        call: Write = {},
    ): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/sections/${segment(section)}/items/${segment(item)}`,
            { query: fields, body: document, takes: "version", write: call },
        );
    }

    // Stock and promotions

    /** Returns an outlet's promotions. (PROMO.GET) */
    listPromotions(outlet: string, call: Call = {}): Promise<Promotions> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/promotions`, { call });
    }

    /** Ends a promotion. (PROMO.END) */
    endPromotion(outlet: string, promotion: string, call: Write = {}): Promise<number> {
        return this.connection.call(
            "DELETE", `/v1/outlets/${segment(outlet)}/promotions/${segment(promotion)}`,
            { takes: "version", write: call },
        );
    }

    /** Adds or changes a promotion. (PROMO.PUT) */
    putPromotion(outlet: string, promotion: string, document: PromotionInput, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}/promotions/${segment(promotion)}`,
            { body: document, takes: "version", write: call },
        );
    }

    /** Returns how much is left of what an outlet has counted, and how much orders hold. (STOCK) */
    getStock(outlet: string, call: Call = {}): Promise<Stock> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/stock`, { call });
    }

    // Outlets

    /** Removes an outlet for good. Its history stays. (OUTLET.REMOVE) */
    removeOutlet(outlet: string, call: Write = {}): Promise<number> {
        return this.connection.call("DELETE", `/v1/outlets/${segment(outlet)}`, { takes: "version", write: call });
    }

    /** Registers an outlet, or changes what differs. (OUTLET.PUT) */
    putOutlet(outlet: string, document: OutletInput, call: Write = {}): Promise<number> {
        return this.connection.call(
            "PUT", `/v1/outlets/${segment(outlet)}`, { body: document, takes: "version", write: call },
        );
    }

    /** Promises orders some minutes later than usual until a time, or as usual again. (OUTLET.BUSY) */
    slowOutlet(outlet: string, fields: { delay: number; until?: string }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/busy`, { body: fields, takes: "version", write: call },
        );
    }

    /** Stops an outlet from taking orders. (OUTLET.CLOSE) */
    closeOutlet(outlet: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/outlets/${segment(outlet)}/close`, { takes: "version", write: call });
    }

    /** Keeps an outlet out of lists and searches. (OUTLET.HIDE) */
    hideOutlet(outlet: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/outlets/${segment(outlet)}/hide`, { takes: "version", write: call });
    }

    /** Returns the orders that an outlet's kitchen has to do with, by the time they are promised for. (KITCHEN) */
    getKitchen(outlet: string, call: Call = {}): Promise<Kitchen> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/kitchen`, { call });
    }

    /** Lets an outlet take orders, or open and close by its hours. (OUTLET.OPEN) */
    openOutlet(outlet: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/outlets/${segment(outlet)}/open`, { takes: "version", write: call });
    }

    /** Stops an outlet from taking orders until a time. (OUTLET.PAUSE) */
    pauseOutlet(outlet: string, fields: { until: string; reason?: string }, call: Write = {}): Promise<number> {
        return this.connection.call(
            "POST", `/v1/outlets/${segment(outlet)}/pause`, { body: fields, takes: "version", write: call },
        );
    }

    /** Puts a hidden outlet back into lists and searches. (OUTLET.SHOW) */
    showOutlet(outlet: string, call: Write = {}): Promise<number> {
        return this.connection.call("POST", `/v1/outlets/${segment(outlet)}/show`, { takes: "version", write: call });
    }

    /** Returns what an outlet sold, took back, gave back and was paid, by days of the outlet. (TAKINGS) */
    getTakings(
        outlet: string, fields: { from: string; until?: string; by?: "hour" }, call: Call = {},
    ): Promise<Takings> {
        return this.connection.call("GET", `/v1/outlets/${segment(outlet)}/takings`, { query: fields, call });
    }

    /**
     * Returns a page of the outlets that the caller may change, with their orders and what today brought. (OUTLETS.OWN)
     */
    listOwnOutlets(fields: { after?: string; count?: number } = {}, call: Call = {}): Promise<OwnOutlets> {
        return this.connection.call("GET", "/v1/own-outlets", { query: fields, call });
    }

    // People

    /**
     * Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
     * (CUSTOMER.FORGET)
     */
    forgetCustomer(customer: string, call: Call = {}): Promise<Forgetting> {
        return this.connection.call("DELETE", `/v1/customers/${segment(customer)}`, { call });
    }

    /** Returns every user, with the names of its tokens. (USER.LIST) */
    listUsers(call: Call = {}): Promise<Users> {
        return this.connection.call("GET", "/v1/users", { call });
    }

    /** Adds a user, who can log in once it has a token; returns the user. (USER.ADD) */
    addUser(fields: { user: string; role: UserRole; only?: string }, call: Call = {}): Promise<User> {
        return this.connection.call("POST", "/v1/users", { body: fields, call });
    }

    /** Removes a user, and closes its connections; returns its name. (USER.REMOVE) */
    removeUser(user: string, call: Call = {}): Promise<RemovedUser> {
        return this.connection.call("DELETE", `/v1/users/${segment(user)}`, { call });
    }

    /** Says what a user is confined to; returns the user. (USER.CONFINE) */
    confineUser(user: string, fields: { only: string }, call: Call = {}): Promise<User> {
        return this.connection.call("PUT", `/v1/users/${segment(user)}/confinement`, { body: fields, call });
    }

    /** Keeps a user from logging in, and closes its connections; returns the user. (USER.DISABLE) */
    disableUser(user: string, call: Call = {}): Promise<User> {
        return this.connection.call("POST", `/v1/users/${segment(user)}/disable`, { call });
    }

    /** Lets a user log in again; returns the user. (USER.ENABLE) */
    enableUser(user: string, call: Call = {}): Promise<User> {
        return this.connection.call("POST", `/v1/users/${segment(user)}/enable`, { call });
    }

    /** Gives a user another token; returns it, this once. (USER.TOKEN) */
    addToken(user: string, call: Call = {}): Promise<NewToken> {
        return this.connection.call("POST", `/v1/users/${segment(user)}/tokens`, { call });
    }

    // The log

    /** Returns a cart with its lines and total, now or as of a moment. (CART.GET) */
    getCartById(cart: string, fields: { at?: string } = {}, call: Call = {}): Promise<Cart> {
        return this.connection.call("GET", `/v1/carts/${segment(cart)}`, { query: fields, call });
    }

    /**
     * Returns events of the log, in order, all or those that match filters, or waits until there are some. (LOG.READ)
     */
    readLog(
        fields: {
            partition?: number; from?: number; count?: number; stream?: string; kind?: string; since?: string;
            until?: string; actor?: string;
        } = {},
        call: Call = {},
    ): Promise<ReadLogAnswer> {
        return this.connection.call("GET", "/v1/log", { query: fields, call });
    }

    /** Returns the position and digest of every partition of the log. (LOG.HEAD) */
    getLogHead(call: Call = {}): Promise<LogHead[]> {
        return this.connection.call("GET", "/v1/log/head", { call });
    }

    /**
     * Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it was.
     * (LOG.TREE)
     */
    getLogTree(
        partition: string, fields: { since?: number; head?: number } = {}, call: Call = {},
    ): Promise<LogTree | null> {
        return this.connection.call("GET", `/v1/log/tree/${segment(partition)}`, { query: fields, call });
    }

    // The server

    /** Returns every connection of the line protocol. (CLIENT LIST) */
    listClients(call: Call = {}): Promise<Clients> {
        return this.connection.call("GET", "/v1/clients", { call });
    }

    /** Closes a connection of the line protocol. (CLIENT KILL) */
    closeClient(id: string, call: Call = {}): Promise<boolean> {
        return this.connection.call("DELETE", `/v1/clients/${segment(id)}`, { takes: "closed", call });
    }

    /** Returns what INFO says. */
    getInformation(call: Call = {}): Promise<Information> {
        return this.connection.call("GET", "/v1/info", { call });
    }

    /** Returns what held up the server, when, and for how many milliseconds. (LATENCY HISTORY) */
    listDelays(call: Call = {}): Promise<Delays> {
        return this.connection.call("GET", "/v1/latency", { call });
    }

    /**
     * Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is.
     * (PROJECTION.REBUILD)
     */
    rebuildProjection(projection: string, call: Call = {}): Promise<Rebuild> {
        return this.connection.call("POST", `/v1/projections/${segment(projection)}/rebuild`, { call });
    }

    /** Returns how far each relay is in each partition, and what last failed. (RELAY.LIST) */
    listRelays(call: Call = {}): Promise<Relays> {
        return this.connection.call("GET", "/v1/relays", { call });
    }

    /** Says who the caller is. */
    getSession(call: Call = {}): Promise<Session> {
        return this.connection.call("GET", "/v1/session", { call });
    }

    /** Returns the latest commands that took long to execute. (SLOWLOG GET) */
    listSlowCommands(call: Call = {}): Promise<SlowCommands> {
        return this.connection.call("GET", "/v1/slowlog", { call });
    }

    // Documents that stay up to date

    /** The orders that a kitchen has to cook. Each state of it from now on, as `Update` says. */
    followKitchen(outlet: string, following: Following = {}): AsyncGenerator<Update<Kitchen>, void, undefined> {
        return follow(this.connection, `kitchen:${outlet}`, following);
    }
}
