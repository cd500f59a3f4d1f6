// The console, for merchants, auditors and admins. Written by Scripts/clients from docs/openapi.json.

import { Connection, Login, type Call, type Write } from "./connection.js";
import { follow, type Following, type Update } from "./stream.js";
import { Site } from "./site.js";

/** The console: a user, who has a name and a token; nobody needs them as long as there are no users. */
export class Console extends Site {
    /** `deadline` is how many milliseconds a call may take with all its attempts, unless the call has its own. */
    constructor(url = "http://127.0.0.1:7381", options: { user?: string; token?: string; deadline?: number } = {}) {
        super(new Connection(url, new Login(options.user, options.token), options.deadline ?? 30_000));
    }

    // Orders

    /** Takes an order on, to be ready at a time; returns its version. (ORDER.ACCEPT) */
    orderAccept(order: string, fields: { ready?: string } = {}, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/accept`, {
            body: fields, write: call,
        });
    }

    /** Says that an order was handed over; returns its version. (ORDER.COMPLETE) */
    orderComplete(order: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/complete`, { write: call });
    }

    /** Says when an order will be ready instead, and why; returns its version. (ORDER.DELAY) */
    orderDelay(order: string, fields: { ready: string; reason?: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/delay`, {
            body: fields, write: call,
        });
    }

    /** Says that the kitchen has seen what was changed; returns the order's version. (ORDER.NOTED) */
    orderNoted(order: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/noted`, { write: call });
    }

    /** Records what a payment service reports of an order's money; returns the order's version. (ORDER.PAYMENT) */
    orderPayment(
        order: string, fields: { ref: string; state: string; amount: number; of?: string }, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/payments`, {
            body: fields, write: call,
        });
    }

    /** Says that an order is being cooked; returns its version. (ORDER.PREPARE) */
    orderPrepare(order: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/prepare`, { write: call });
    }

    /** Says that an order can be fetched; returns its version. (ORDER.READY) */
    orderReady(order: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/ready`, { write: call });
    }

    /** Gives back some of a line, an amount, or all that is left; returns the order's version. (ORDER.REFUND) */
    orderRefund(
        order: string, fields: { code: string; amount?: number; line?: string; quantity?: number }, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/refunds`, {
            body: fields, write: call,
        });
    }

    /** Does not take an order on; returns its version. (ORDER.REJECT) */
    orderReject(order: string, fields: { code: string; reason?: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/orders/${encodeURIComponent(order)}/reject`, {
            body: fields, write: call,
        });
    }

    // Menus

    /** Returns what the source of a menu was last found to hold, in full, or null. (MENU.FEED.GET) */
    menuFeedGet(outlet: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/outlets/${encodeURIComponent(outlet)}/feed`, { call });
    }

    /** Removes a group of options that nothing names. (MENU.GROUP.REMOVE) */
    menuGroupRemove(outlet: string, group: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/outlets/${encodeURIComponent(outlet)}/groups/${encodeURIComponent(group)}`, {
            write: call,
        });
    }

    /** Adds or changes a group of options that items offer. (MENU.GROUP.PUT) */
    menuGroupPut(outlet: string, group: string, document: object, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/groups/${encodeURIComponent(group)}`, {
            body: document, write: call,
        });
    }

    /** Removes an item. (MENU.ITEM.REMOVE) */
    menuItemRemove(outlet: string, item: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}`, {
            write: call,
        });
    }

    /** Sets an item's price, in minor units. (MENU.ITEM.PRICE) */
    menuItemPrice(outlet: string, item: string, fields: { price: number }, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}/price`, {
            body: fields, write: call,
        });
    }

    /** Makes a sold-out item available again. (MENU.ITEM.RESUME) */
    menuItemResume(outlet: string, item: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}/resume`, {
            write: call,
        });
    }

    /**
     * Says how many of an item can still be ordered, or adds some; without a number it is no longer counted.
     * (MENU.ITEM.STOCK)
     */
    menuItemStock(
        outlet: string, item: string, fields: { add?: number; count?: number } = {}, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}/stock`, {
            body: fields, write: call,
        });
    }

    /** Marks an item as sold out, until a time or until it is resumed. (MENU.ITEM.SUSPEND) */
    menuItemSuspend(outlet: string, item: string, fields: { until?: string } = {}, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/items/${encodeURIComponent(item)}/suspend`, {
            body: fields, write: call,
        });
    }

    /** Replaces an outlet's menu, by as few changes as possible. (MENU.PUT) */
    menuPut(outlet: string, document: object, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/menu`, {
            body: document, write: call,
        });
    }

    /** Sets an option's price, in minor units, or its price with a size. (MENU.OPTION.PRICE) */
    menuOptionPrice(
        outlet: string, option: string, fields: { price: number; size?: string }, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/options/${encodeURIComponent(option)}/price`, {
            body: fields, write: call,
        });
    }

    /** Makes a sold-out option available again. (MENU.OPTION.RESUME) */
    menuOptionResume(outlet: string, option: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/options/${encodeURIComponent(option)}/resume`, {
            write: call,
        });
    }

    /**
     * Says how many of an option can still be ordered, or adds some; without a number it is no longer counted.
     * (MENU.OPTION.STOCK)
     */
    menuOptionStock(
        outlet: string, option: string, fields: { add?: number; count?: number } = {}, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/options/${encodeURIComponent(option)}/stock`, {
            body: fields, write: call,
        });
    }

    /** Marks an option as sold out, until a time or until it is resumed. (MENU.OPTION.SUSPEND) */
    menuOptionSuspend(
        outlet: string, option: string, fields: { until?: string } = {}, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/options/${encodeURIComponent(option)}/suspend`, {
            body: fields, write: call,
        });
    }

    /** Stores a picture for an outlet's menu; returns the path at which it is served. (PICTURE.PUT) */
    picturePut(outlet: string, picture: Blob, call: Call = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/pictures`, { picture, call });
    }

    /** Removes a section with its items. (MENU.SECTION.REMOVE) */
    menuSectionRemove(outlet: string, section: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/outlets/${encodeURIComponent(outlet)}/sections/${encodeURIComponent(section)}`, {
            write: call,
        });
    }

    /** Adds or changes a section of a menu. (MENU.SECTION.PUT) */
    menuSectionPut(
        outlet: string, section: string, document: object, fields: { before?: string } = {}, call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/sections/${encodeURIComponent(section)}`, {
            query: fields, body: document, write: call,
        });
    }

    /** Adds or changes an item of a menu. (MENU.ITEM.PUT) */
    menuItemPut(
        outlet: string, section: string, item: string, document: object, fields: { before?: string } = {},
        call: Write = {},
    ): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/sections/${encodeURIComponent(section)}/items/${encodeURIComponent(item)}`, {
            query: fields, body: document, write: call,
        });
    }

    // Stock and promotions

    /** Returns an outlet's promotions, or null. (PROMO.GET) */
    promoGet(outlet: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/outlets/${encodeURIComponent(outlet)}/promotions`, { call });
    }

    /** Ends a promotion. (PROMO.END) */
    promoEnd(outlet: string, promotion: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/outlets/${encodeURIComponent(outlet)}/promotions/${encodeURIComponent(promotion)}`, {
            write: call,
        });
    }

    /** Adds or changes a promotion. (PROMO.PUT) */
    promoPut(outlet: string, promotion: string, document: object, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}/promotions/${encodeURIComponent(promotion)}`, {
            body: document, write: call,
        });
    }

    /** Returns how much is left of what an outlet has counted, and how much orders hold. (STOCK) */
    stock(outlet: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/outlets/${encodeURIComponent(outlet)}/stock`, { call });
    }

    // Outlets

    /** Removes an outlet for good. Its history stays. (OUTLET.REMOVE) */
    outletRemove(outlet: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/outlets/${encodeURIComponent(outlet)}`, { write: call });
    }

    /** Registers an outlet, or changes what differs. (OUTLET.PUT) */
    outletPut(outlet: string, document: object, call: Write = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/outlets/${encodeURIComponent(outlet)}`, {
            body: document, write: call,
        });
    }

    /** Promises orders some minutes later than usual until a time, or as usual again. (OUTLET.BUSY) */
    outletBusy(outlet: string, fields: { delay: number; until?: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/busy`, {
            body: fields, write: call,
        });
    }

    /** Stops an outlet from taking orders. (OUTLET.CLOSE) */
    outletClose(outlet: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/close`, { write: call });
    }

    /** Keeps an outlet out of lists and searches. (OUTLET.HIDE) */
    outletHide(outlet: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/hide`, { write: call });
    }

    /** Returns the orders that an outlet's kitchen has to do with, by the time they are promised for. (KITCHEN) */
    kitchen(outlet: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/outlets/${encodeURIComponent(outlet)}/kitchen`, { call });
    }

    /** Lets an outlet take orders, or open and close by its hours. (OUTLET.OPEN) */
    outletOpen(outlet: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/open`, { write: call });
    }

    /** Stops an outlet from taking orders until a time. (OUTLET.PAUSE) */
    outletPause(outlet: string, fields: { until: string; reason?: string }, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/pause`, {
            body: fields, write: call,
        });
    }

    /** Puts a hidden outlet back into lists and searches. (OUTLET.SHOW) */
    outletShow(outlet: string, call: Write = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/outlets/${encodeURIComponent(outlet)}/show`, { write: call });
    }

    /** Returns what an outlet sold, took back, gave back and was paid, by days of the outlet. (TAKINGS) */
    takings(outlet: string, fields: { from: string; until?: string; by?: string }, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/outlets/${encodeURIComponent(outlet)}/takings`, {
            query: fields, call,
        });
    }

    /**
     * Returns a page of the outlets that the caller may change, with their orders and what today brought. (OUTLETS.OWN)
     */
    outletsOwn(fields: { after?: string; count?: number } = {}, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/own-outlets", { query: fields, call });
    }

    // People

    /**
     * Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
     * (CUSTOMER.FORGET)
     */
    customerForget(customer: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/customers/${encodeURIComponent(customer)}`, { call });
    }

    /** Returns every user, with the names of its tokens. (USER.LIST) */
    userList(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/users", { call });
    }

    /** Adds a user, who can log in once it has a token; returns the user. (USER.ADD) */
    userAdd(fields: { user: string; role: string; only?: string }, call: Call = {}): Promise<unknown> {
        return this.connection.call("POST", "/v1/users", { body: fields, call });
    }

    /** Removes a user, and closes its connections; returns its name. (USER.REMOVE) */
    userRemove(user: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/users/${encodeURIComponent(user)}`, { call });
    }

    /** Says what a user is confined to; returns the user. (USER.CONFINE) */
    userConfine(user: string, fields: { only: string }, call: Call = {}): Promise<unknown> {
        return this.connection.call("PUT", `/v1/users/${encodeURIComponent(user)}/confinement`, { body: fields, call });
    }

    /** Keeps a user from logging in, and closes its connections; returns the user. (USER.DISABLE) */
    userDisable(user: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/users/${encodeURIComponent(user)}/disable`, { call });
    }

    /** Lets a user log in again; returns the user. (USER.ENABLE) */
    userEnable(user: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/users/${encodeURIComponent(user)}/enable`, { call });
    }

    /** Gives a user another token; returns it, this once. (USER.TOKEN) */
    userToken(user: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("POST", `/v1/users/${encodeURIComponent(user)}/tokens`, { call });
    }

    // The log

    /**
     * Returns a cart with its lines and total, now or as of a moment, or what has changed in it, or null. (CART.GET)
     */
    cartGet(cart: string, fields: { at?: string } = {}, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/carts/${encodeURIComponent(cart)}`, { query: fields, call });
    }

    /**
     * Returns events of the log, in order, all or those that match filters, or waits until there are some. (LOG.READ)
     */
    logRead(
        fields: { partition?: number; from?: number; count?: number; stream?: string; kind?: string; until?: string; actor?: string } = {},
        call: Call = {},
    ): Promise<unknown> {
        return this.connection.call("GET", "/v1/log", { query: fields, call });
    }

    /** Returns the position and digest of every partition of the log. (LOG.HEAD) */
    logHead(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/log/head", { call });
    }

    /**
     * Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it was.
     * (LOG.TREE)
     */
    logTree(partition: string, fields: { head?: number } = {}, call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", `/v1/log/tree/${encodeURIComponent(partition)}`, { query: fields, call });
    }

    // The server

    /** Returns every connection of the line protocol. (CLIENT LIST) */
    clientList(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/clients", { call });
    }

    /** Closes a connection of the line protocol. (CLIENT KILL) */
    clientKill(id: string, call: Call = {}): Promise<unknown> {
        return this.connection.call("DELETE", `/v1/clients/${encodeURIComponent(id)}`, { call });
    }

    /** Returns what held up the server, when, and for how many milliseconds. (LATENCY HISTORY) */
    latencyHistory(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/latency", { call });
    }

    /**
     * Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is.
     * (PROJECTION.REBUILD)
     */
    projectionRebuild(projection: string, call: Call = {}): Promise<Record<string, unknown>> {
        return this.connection.call("POST", `/v1/projections/${encodeURIComponent(projection)}/rebuild`, { call });
    }

    /** Returns how far each relay is in each partition, and what last failed. (RELAY.LIST) */
    relayList(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/relays", { call });
    }

    /** Returns the latest commands that took long to execute. (SLOWLOG GET) */
    slowlogGet(call: Call = {}): Promise<unknown> {
        return this.connection.call("GET", "/v1/slowlog", { call });
    }

    // Documents that stay up to date

    /** The orders that a kitchen has to cook. Each state of it from now on, as `Update` says. */
    followKitchen(outlet: string, following: Following = {}): AsyncGenerator<Update<unknown>, void, undefined> {
        return follow(this.connection, `kitchen:${outlet}`, following);
    }
}
