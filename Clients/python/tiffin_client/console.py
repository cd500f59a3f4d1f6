"""The console, for merchants, auditors and admins.

Written by Scripts/clients from docs/openapi.json.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from .connection import Connection, Login, segment
from .site import Site
from .stream import Update, follow


class Console(Site):
    """The console: a user, who has a name and a token; nobody needs them as long as there are no users.

    `deadline` is how many seconds a call may take with all its attempts, unless the call has its own.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:7381", *, user: str | None = None, token: str | None = None,
        deadline: float = 30.0,
    ):
        super().__init__(Connection(url, Login(user, token), deadline))

    # --- Orders

    def order_accept(
        self, order: str, *, ready: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Takes an order on, to be ready at a time; returns its version. (ORDER.ACCEPT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/accept", query=[("version", version)], body={"ready": ready},
            has_key=True, key=key, deadline=deadline)

    def order_complete(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says that an order was handed over; returns its version. (ORDER.COMPLETE)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/complete", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def order_delay(
        self, order: str, ready: str, *, reason: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Says when an order will be ready instead, and why; returns its version. (ORDER.DELAY)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/delay", query=[("version", version)],
            body={"ready": ready, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def order_noted(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says that the kitchen has seen what was changed; returns the order's version. (ORDER.NOTED)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/noted", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def order_payment(
        self, order: str, ref: str, state: str, amount: int, *, of: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Records what a payment service reports of an order's money; returns the order's version. (ORDER.PAYMENT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/payments", query=[("version", version)],
            body={"ref": ref, "state": state, "amount": amount, "of": of}, has_key=True, key=key, deadline=deadline)

    def order_prepare(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says that an order is being cooked; returns its version. (ORDER.PREPARE)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/prepare", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def order_ready(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says that an order can be fetched; returns its version. (ORDER.READY)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/ready", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def order_refund(
        self, order: str, code: str, *, amount: int | None = None, line: str | None = None,
        quantity: int | None = None, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Gives back some of a line, an amount, or all that is left; returns the order's version. (ORDER.REFUND)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/refunds", query=[("version", version)],
            body={"code": code, "amount": amount, "line": line, "quantity": quantity}, has_key=True, key=key,
            deadline=deadline)

    def order_reject(
        self, order: str, code: str, *, reason: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Does not take an order on; returns its version. (ORDER.REJECT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/reject", query=[("version", version)],
            body={"code": code, "reason": reason}, has_key=True, key=key, deadline=deadline)

    # --- Menus

    def menu_feed_get(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns what the source of a menu was last found to hold, in full, or null. (MENU.FEED.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/feed", deadline=deadline)

    def menu_group_remove(
        self, outlet: str, group: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Removes a group of options that nothing names. (MENU.GROUP.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/groups/{segment(group)}", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def menu_group_put(
        self, outlet: str, group: str, document: Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Adds or changes a group of options that items offer. (MENU.GROUP.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/groups/{segment(group)}", query=[("version", version)],
            body=document, has_key=True, key=key, deadline=deadline)

    def menu_item_remove(
        self, outlet: str, item: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Removes an item. (MENU.ITEM.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def menu_item_price(
        self, outlet: str, item: str, price: int, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Sets an item's price, in minor units. (MENU.ITEM.PRICE)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/price", query=[("version", version)],
            body={"price": price}, has_key=True, key=key, deadline=deadline)

    def menu_item_resume(
        self, outlet: str, item: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Makes a sold-out item available again. (MENU.ITEM.RESUME)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/resume", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def menu_item_stock(
        self, outlet: str, item: str, *, add: int | None = None, count: int | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says how many of an item can still be ordered, or adds some; without a number it is no longer counted.
        (MENU.ITEM.STOCK)
        """
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/stock", query=[("version", version)],
            body={"add": add, "count": count}, has_key=True, key=key, deadline=deadline)

    def menu_item_suspend(
        self, outlet: str, item: str, *, until: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Marks an item as sold out, until a time or until it is resumed. (MENU.ITEM.SUSPEND)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/suspend", query=[("version", version)],
            body={"until": until}, has_key=True, key=key, deadline=deadline)

    def menu_put(
        self, outlet: str, document: Mapping[str, Any], *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Replaces an outlet's menu, by as few changes as possible. (MENU.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/menu", query=[("version", version)], body=document, has_key=True,
            key=key, deadline=deadline)

    def menu_option_price(
        self, outlet: str, option: str, price: int, *, size: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Sets an option's price, in minor units, or its price with a size. (MENU.OPTION.PRICE)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/price", query=[("version", version)],
            body={"price": price, "size": size}, has_key=True, key=key, deadline=deadline)

    def menu_option_resume(
        self, outlet: str, option: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Makes a sold-out option available again. (MENU.OPTION.RESUME)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/resume", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def menu_option_stock(
        self, outlet: str, option: str, *, add: int | None = None, count: int | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Says how many of an option can still be ordered, or adds some; without a number it is no longer counted.
        (MENU.OPTION.STOCK)
        """
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/stock", query=[("version", version)],
            body={"add": add, "count": count}, has_key=True, key=key, deadline=deadline)

    def menu_option_suspend(
        self, outlet: str, option: str, *, until: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Marks an option as sold out, until a time or until it is resumed. (MENU.OPTION.SUSPEND)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/suspend", query=[("version", version)],
            body={"until": until}, has_key=True, key=key, deadline=deadline)

    def picture_put(self, outlet: str, picture: bytes, content_type: str, *, deadline: float | None = None) -> Any:
        """Stores a picture for an outlet's menu; returns the path at which it is served. (PICTURE.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/pictures", picture=(content_type, picture), deadline=deadline)

    def menu_section_remove(
        self, outlet: str, section: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Removes a section with its items. (MENU.SECTION.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def menu_section_put(
        self, outlet: str, section: str, document: Mapping[str, Any], *, before: str | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Adds or changes a section of a menu. (MENU.SECTION.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}",
            query=[("before", before), ("version", version)], body=document, has_key=True, key=key, deadline=deadline)

    def menu_item_put(
        self, outlet: str, section: str, item: str, document: Mapping[str, Any], *, before: str | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Adds or changes an item of a menu. (MENU.ITEM.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}/items/{segment(item)}",
            query=[("before", before), ("version", version)], body=document, has_key=True, key=key, deadline=deadline)

    # --- Stock and promotions

    def promo_get(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns an outlet's promotions, or null. (PROMO.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/promotions", deadline=deadline)

    def promo_end(
        self, outlet: str, promotion: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Ends a promotion. (PROMO.END)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/promotions/{segment(promotion)}", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def promo_put(
        self, outlet: str, promotion: str, document: Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Adds or changes a promotion. (PROMO.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/promotions/{segment(promotion)}", query=[("version", version)],
            body=document, has_key=True, key=key, deadline=deadline)

    def stock(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns how much is left of what an outlet has counted, and how much orders hold. (STOCK)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/stock", deadline=deadline)

    # --- Outlets

    def outlet_remove(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Removes an outlet for good. Its history stays. (OUTLET.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def outlet_put(
        self, outlet: str, document: Mapping[str, Any], *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Registers an outlet, or changes what differs. (OUTLET.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}", query=[("version", version)], body=document, has_key=True,
            key=key, deadline=deadline)

    def outlet_busy(
        self, outlet: str, delay: int, *, until: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Promises orders some minutes later than usual until a time, or as usual again. (OUTLET.BUSY)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/busy", query=[("version", version)],
            body={"delay": delay, "until": until}, has_key=True, key=key, deadline=deadline)

    def outlet_close(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Stops an outlet from taking orders. (OUTLET.CLOSE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/close", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def outlet_hide(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Keeps an outlet out of lists and searches. (OUTLET.HIDE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/hide", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def kitchen(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns the orders that an outlet's kitchen has to do with, by the time they are promised for. (KITCHEN)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/kitchen", deadline=deadline)

    def outlet_open(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Lets an outlet take orders, or open and close by its hours. (OUTLET.OPEN)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/open", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def outlet_pause(
        self, outlet: str, until: str, *, reason: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Stops an outlet from taking orders until a time. (OUTLET.PAUSE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/pause", query=[("version", version)],
            body={"until": until, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def outlet_show(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Puts a hidden outlet back into lists and searches. (OUTLET.SHOW)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/show", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def takings(
        self, outlet: str, from_: str, *, until: str | None = None, by: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Returns what an outlet sold, took back, gave back and was paid, by days of the outlet. (TAKINGS)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/takings", query=[("from", from_), ("until", until), ("by", by)],
            deadline=deadline)

    def outlets_own(self, *, after: str | None = None, count: int | None = None, deadline: float | None = None) -> Any:
        """Returns a page of the outlets that the caller may change, with their orders and what today brought.
        (OUTLETS.OWN)
        """
        return self.connection.call(
            "GET", "/v1/own-outlets", query=[("after", after), ("count", count)], deadline=deadline)

    # --- People

    def customer_forget(self, customer: str, *, deadline: float | None = None) -> Any:
        """Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
        (CUSTOMER.FORGET)
        """
        return self.connection.call("DELETE", f"/v1/customers/{segment(customer)}", deadline=deadline)

    def user_list(self, *, deadline: float | None = None) -> Any:
        """Returns every user, with the names of its tokens. (USER.LIST)"""
        return self.connection.call("GET", "/v1/users", deadline=deadline)

    def user_add(self, user: str, role: str, *, only: str | None = None, deadline: float | None = None) -> Any:
        """Adds a user, who can log in once it has a token; returns the user. (USER.ADD)"""
        return self.connection.call(
            "POST", "/v1/users", body={"user": user, "role": role, "only": only}, deadline=deadline)

    def user_remove(self, user: str, *, deadline: float | None = None) -> Any:
        """Removes a user, and closes its connections; returns its name. (USER.REMOVE)"""
        return self.connection.call("DELETE", f"/v1/users/{segment(user)}", deadline=deadline)

    def user_confine(self, user: str, only: str, *, deadline: float | None = None) -> Any:
        """Says what a user is confined to; returns the user. (USER.CONFINE)"""
        return self.connection.call(
            "PUT", f"/v1/users/{segment(user)}/confinement", body={"only": only}, deadline=deadline)

    def user_disable(self, user: str, *, deadline: float | None = None) -> Any:
        """Keeps a user from logging in, and closes its connections; returns the user. (USER.DISABLE)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/disable", deadline=deadline)

    def user_enable(self, user: str, *, deadline: float | None = None) -> Any:
        """Lets a user log in again; returns the user. (USER.ENABLE)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/enable", deadline=deadline)

    def user_token(self, user: str, *, deadline: float | None = None) -> Any:
        """Gives a user another token; returns it, this once. (USER.TOKEN)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/tokens", deadline=deadline)

    # --- The log

    def cart_get(self, cart: str, *, at: str | None = None, deadline: float | None = None) -> Any:
        """Returns a cart with its lines and total, now or as of a moment, or what has changed in it, or null.
        (CART.GET)
        """
        return self.connection.call("GET", f"/v1/carts/{segment(cart)}", query=[("at", at)], deadline=deadline)

    def log_read(
        self, *, partition: int | None = None, from_: int | None = None, count: int | None = None,
        stream: str | None = None, kind: str | None = None, until: str | None = None, actor: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Returns events of the log, in order, all or those that match filters, or waits until there are some.
        (LOG.READ)
        """
        return self.connection.call(
            "GET", "/v1/log",
            query=[("partition", partition), ("from", from_), ("count", count), ("stream", stream), ("kind", kind), ("until", until), ("actor", actor)],
            deadline=deadline)

    def log_head(self, *, deadline: float | None = None) -> Any:
        """Returns the position and digest of every partition of the log. (LOG.HEAD)"""
        return self.connection.call("GET", "/v1/log/head", deadline=deadline)

    def log_tree(self, partition: str, *, head: int | None = None, deadline: float | None = None) -> Any:
        """Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it
        was. (LOG.TREE)
        """
        return self.connection.call(
            "GET", f"/v1/log/tree/{segment(partition)}", query=[("head", head)], deadline=deadline)

    # --- The server

    def client_list(self, *, deadline: float | None = None) -> Any:
        """Returns every connection of the line protocol. (CLIENT LIST)"""
        return self.connection.call("GET", "/v1/clients", deadline=deadline)

    def client_kill(self, id: str, *, deadline: float | None = None) -> Any:
        """Closes a connection of the line protocol. (CLIENT KILL)"""
        return self.connection.call("DELETE", f"/v1/clients/{segment(id)}", deadline=deadline)

    def latency_history(self, *, deadline: float | None = None) -> Any:
        """Returns what held up the server, when, and for how many milliseconds. (LATENCY HISTORY)"""
        return self.connection.call("GET", "/v1/latency", deadline=deadline)

    def projection_rebuild(self, projection: str, *, deadline: float | None = None) -> dict[str, Any]:
        """Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is.
        (PROJECTION.REBUILD)
        """
        return self.connection.call(
            "POST", f"/v1/projections/{segment(projection)}/rebuild", dict[str, Any], deadline=deadline)

    def relay_list(self, *, deadline: float | None = None) -> Any:
        """Returns how far each relay is in each partition, and what last failed. (RELAY.LIST)"""
        return self.connection.call("GET", "/v1/relays", deadline=deadline)

    def slowlog_get(self, *, deadline: float | None = None) -> Any:
        """Returns the latest commands that took long to execute. (SLOWLOG GET)"""
        return self.connection.call("GET", "/v1/slowlog", deadline=deadline)

    # --- Documents that stay up to date

    def follow_kitchen(self, outlet: str, *, patience: float | None = None) -> Iterator[Update[Any]]:
        """The orders that a kitchen has to cook. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"kitchen:{outlet}", Any, patience)
