"""The console, for merchants, auditors and admins.

Written by Scripts/clients from docs/openapi.json.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from .connection import Connection, Login, segment
from .documents import (
    Cart, Clients, Delays, EndingCode, Feed, Forgetting, GroupInput, Information, ItemInput, Kitchen, LogHead, LogTree,
    MenuInput, NewToken, OutletInput, OwnOutlets, PromotionInput, Promotions, ReadLogAnswer, Rebuild, Relays,
    RemovedUser, SectionInput, Session, SlowCommands, Stock, Takings, User, UserRole, Users,
)
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

    def accept_order(
        self, order: str, *, ready: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Takes an order on, to be ready at a time; returns its version. (ORDER.ACCEPT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/accept", int, takes="version", query=[("version", version)],
            body={"ready": ready}, has_key=True, key=key, deadline=deadline)

    def complete_order(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says that an order was handed over; returns its version. (ORDER.COMPLETE)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/complete", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def delay_order(
        self, order: str, ready: str, *, reason: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Says when an order will be ready instead, and why; returns its version. (ORDER.DELAY)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/delay", int, takes="version", query=[("version", version)],
            body={"ready": ready, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def note_changes(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says that the kitchen has seen what was changed; returns the order's version. (ORDER.NOTED)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/noted", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def report_payment(
        self, order: str, ref: str, state: str, amount: int, *, of: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Records what a payment service reports of an order's money; returns the order's version. (ORDER.PAYMENT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/payments", int, takes="version", query=[("version", version)],
            body={"ref": ref, "state": state, "amount": amount, "of": of}, has_key=True, key=key, deadline=deadline)

    def prepare_order(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says that an order is being cooked; returns its version. (ORDER.PREPARE)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/prepare", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def ready_order(
        self, order: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says that an order can be fetched; returns its version. (ORDER.READY)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/ready", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def refund_order(
        self, order: str, code: EndingCode, *, amount: int | None = None, line: str | None = None,
        quantity: int | None = None, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Gives back some of a line, an amount, or all that is left; returns the order's version. (ORDER.REFUND)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/refunds", int, takes="version", query=[("version", version)],
            body={"code": code, "amount": amount, "line": line, "quantity": quantity}, has_key=True, key=key,
            deadline=deadline)

    def reject_order(
        self, order: str, code: EndingCode, *, reason: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Does not take an order on; returns its version. (ORDER.REJECT)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/reject", int, takes="version", query=[("version", version)],
            body={"code": code, "reason": reason}, has_key=True, key=key, deadline=deadline)

    # --- Menus

    def get_feed(self, outlet: str, *, deadline: float | None = None) -> Feed:
        """Returns what the source of a menu was last found to hold, in full. (MENU.FEED.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/feed", Feed, deadline=deadline)

    def remove_group(
        self, outlet: str, group: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Removes a group of options that nothing names. (MENU.GROUP.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/groups/{segment(group)}", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def put_group(
        self, outlet: str, group: str, document: GroupInput | Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Adds or changes a group of options that items offer. (MENU.GROUP.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/groups/{segment(group)}", int, takes="version",
            query=[("version", version)], body=document, has_key=True, key=key, deadline=deadline)

    def remove_item(
        self, outlet: str, item: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Removes an item. (MENU.ITEM.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def set_item_price(
        self, outlet: str, item: str, price: int, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Sets an item's price, in minor units. (MENU.ITEM.PRICE)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/price", int, takes="version",
            query=[("version", version)], body={"price": price}, has_key=True, key=key, deadline=deadline)

    def resume_item(
        self, outlet: str, item: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Makes a sold-out item available again. (MENU.ITEM.RESUME)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/resume", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def set_item_stock(
        self, outlet: str, item: str, *, add: int | None = None, count: int | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says how many of an item can still be ordered, or adds some; without a number it is no longer counted.
        (MENU.ITEM.STOCK)
        """
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/stock", int, takes="version",
            query=[("version", version)], body={"add": add, "count": count}, has_key=True, key=key, deadline=deadline)

    def suspend_item(
        self, outlet: str, item: str, *, until: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Marks an item as sold out, until a time or until it is resumed. (MENU.ITEM.SUSPEND)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}/suspend", int, takes="version",
            query=[("version", version)], body={"until": until}, has_key=True, key=key, deadline=deadline)

    def put_menu(
        self, outlet: str, document: MenuInput | Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Replaces an outlet's menu, by as few changes as possible. (MENU.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/menu", int, takes="version", query=[("version", version)],
            body=document, has_key=True, key=key, deadline=deadline)

    def set_option_price(
        self, outlet: str, option: str, price: int, *, size: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Sets an option's price, in minor units, or its price with a size. (MENU.OPTION.PRICE)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/price", int, takes="version",
            query=[("version", version)], body={"price": price, "size": size}, has_key=True, key=key, deadline=deadline)

    def resume_option(
        self, outlet: str, option: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Makes a sold-out option available again. (MENU.OPTION.RESUME)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/resume", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def set_option_stock(
        self, outlet: str, option: str, *, add: int | None = None, count: int | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says how many of an option can still be ordered, or adds some; without a number it is no longer counted.
        (MENU.OPTION.STOCK)
        """
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/stock", int, takes="version",
            query=[("version", version)], body={"add": add, "count": count}, has_key=True, key=key, deadline=deadline)

    def suspend_option(
        self, outlet: str, option: str, *, until: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Marks an option as sold out, until a time or until it is resumed. (MENU.OPTION.SUSPEND)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/options/{segment(option)}/suspend", int, takes="version",
            query=[("version", version)], body={"until": until}, has_key=True, key=key, deadline=deadline)

    def put_picture(self, outlet: str, picture: bytes, content_type: str, *, deadline: float | None = None) -> str:
        """Stores a picture for an outlet's menu; returns the path at which it is served. (PICTURE.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/pictures", str, takes="path", picture=(content_type, picture),
            deadline=deadline)

    def remove_section(
        self, outlet: str, section: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Removes a section with its items. (MENU.SECTION.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def put_section(
        self, outlet: str, section: str, document: SectionInput | Mapping[str, Any], *, before: str | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Adds or changes a section of a menu. (MENU.SECTION.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}", int, takes="version",
            query=[("before", before), ("version", version)], body=document, has_key=True, key=key, deadline=deadline)

    def put_item(
        self, outlet: str, section: str, item: str, document: ItemInput | Mapping[str, Any], *,
        before: str | None = None, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Adds or changes an item of a menu. (MENU.ITEM.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/sections/{segment(section)}/items/{segment(item)}", int,
            takes="version", query=[("before", before), ("version", version)], body=document, has_key=True, key=key,
            deadline=deadline)

    # --- Stock and promotions

    def list_promotions(self, outlet: str, *, deadline: float | None = None) -> Promotions:
        """Returns an outlet's promotions. (PROMO.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/promotions", Promotions, deadline=deadline)

    def end_promotion(
        self, outlet: str, promotion: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Ends a promotion. (PROMO.END)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}/promotions/{segment(promotion)}", int, takes="version",
            query=[("version", version)], has_key=True, key=key, deadline=deadline)

    def put_promotion(
        self, outlet: str, promotion: str, document: PromotionInput | Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Adds or changes a promotion. (PROMO.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}/promotions/{segment(promotion)}", int, takes="version",
            query=[("version", version)], body=document, has_key=True, key=key, deadline=deadline)

    def get_stock(self, outlet: str, *, deadline: float | None = None) -> Stock:
        """Returns how much is left of what an outlet has counted, and how much orders hold. (STOCK)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/stock", Stock, deadline=deadline)

    # --- Outlets

    def remove_outlet(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Removes an outlet for good. Its history stays. (OUTLET.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/outlets/{segment(outlet)}", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def put_outlet(
        self, outlet: str, document: OutletInput | Mapping[str, Any], *, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Registers an outlet, or changes what differs. (OUTLET.PUT)"""
        return self.connection.call(
            "PUT", f"/v1/outlets/{segment(outlet)}", int, takes="version", query=[("version", version)], body=document,
            has_key=True, key=key, deadline=deadline)

    def slow_outlet(
        self, outlet: str, delay: int, *, until: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Promises orders some minutes later than usual until a time, or as usual again. (OUTLET.BUSY)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/busy", int, takes="version", query=[("version", version)],
            body={"delay": delay, "until": until}, has_key=True, key=key, deadline=deadline)

    def close_outlet(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Stops an outlet from taking orders. (OUTLET.CLOSE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/close", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def hide_outlet(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Keeps an outlet out of lists and searches. (OUTLET.HIDE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/hide", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def get_kitchen(self, outlet: str, *, deadline: float | None = None) -> Kitchen:
        """Returns the orders that an outlet's kitchen has to do with, by the time they are promised for. (KITCHEN)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/kitchen", Kitchen, deadline=deadline)

    def open_outlet(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Lets an outlet take orders, or open and close by its hours. (OUTLET.OPEN)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/open", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def pause_outlet(
        self, outlet: str, until: str, *, reason: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Stops an outlet from taking orders until a time. (OUTLET.PAUSE)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/pause", int, takes="version", query=[("version", version)],
            body={"until": until, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def show_outlet(
        self, outlet: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Puts a hidden outlet back into lists and searches. (OUTLET.SHOW)"""
        return self.connection.call(
            "POST", f"/v1/outlets/{segment(outlet)}/show", int, takes="version", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def get_takings(
        self, outlet: str, from_: str, *, until: str | None = None, by: Literal["hour"] | None = None,
        deadline: float | None = None,
    ) -> Takings:
        """Returns what an outlet sold, took back, gave back and was paid, by days of the outlet. (TAKINGS)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/takings", Takings,
            query=[("from", from_), ("until", until), ("by", by)], deadline=deadline)

    def list_own_outlets(
        self, *, after: str | None = None, count: int | None = None, deadline: float | None = None,
    ) -> OwnOutlets:
        """Returns a page of the outlets that the caller may change, with their orders and what today brought.
        (OUTLETS.OWN)
        """
        return self.connection.call(
            "GET", "/v1/own-outlets", OwnOutlets, query=[("after", after), ("count", count)], deadline=deadline)

    # --- People

    def forget_customer(self, customer: str, *, deadline: float | None = None) -> Forgetting:
        """Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
        (CUSTOMER.FORGET)
        """
        return self.connection.call("DELETE", f"/v1/customers/{segment(customer)}", Forgetting, deadline=deadline)

    def list_users(self, *, deadline: float | None = None) -> Users:
        """Returns every user, with the names of its tokens. (USER.LIST)"""
        return self.connection.call("GET", "/v1/users", Users, deadline=deadline)

    def add_user(self, user: str, role: UserRole, *, only: str | None = None, deadline: float | None = None) -> User:
        """Adds a user, who can log in once it has a token; returns the user. (USER.ADD)"""
        return self.connection.call(
            "POST", "/v1/users", User, body={"user": user, "role": role, "only": only}, deadline=deadline)

    def remove_user(self, user: str, *, deadline: float | None = None) -> RemovedUser:
        """Removes a user, and closes its connections; returns its name. (USER.REMOVE)"""
        return self.connection.call("DELETE", f"/v1/users/{segment(user)}", RemovedUser, deadline=deadline)

    def confine_user(self, user: str, only: str, *, deadline: float | None = None) -> User:
        """Says what a user is confined to; returns the user. (USER.CONFINE)"""
        return self.connection.call(
            "PUT", f"/v1/users/{segment(user)}/confinement", User, body={"only": only}, deadline=deadline)

    def disable_user(self, user: str, *, deadline: float | None = None) -> User:
        """Keeps a user from logging in, and closes its connections; returns the user. (USER.DISABLE)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/disable", User, deadline=deadline)

    def enable_user(self, user: str, *, deadline: float | None = None) -> User:
        """Lets a user log in again; returns the user. (USER.ENABLE)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/enable", User, deadline=deadline)

    def add_token(self, user: str, *, deadline: float | None = None) -> NewToken:
        """Gives a user another token; returns it, this once. (USER.TOKEN)"""
        return self.connection.call("POST", f"/v1/users/{segment(user)}/tokens", NewToken, deadline=deadline)

    # --- The log

    def get_cart_by_id(self, cart: str, *, at: str | None = None, deadline: float | None = None) -> Cart:
        """Returns a cart with its lines and total, now or as of a moment. (CART.GET)"""
        return self.connection.call("GET", f"/v1/carts/{segment(cart)}", Cart, query=[("at", at)], deadline=deadline)

    def read_log(
        self, *, partition: int | None = None, from_: int | None = None, count: int | None = None,
        stream: str | None = None, kind: str | None = None, since: str | None = None, until: str | None = None,
        actor: str | None = None, deadline: float | None = None,
    ) -> ReadLogAnswer:
        """Returns events of the log, in order, all or those that match filters, or waits until there are some.
        (LOG.READ)
        """
        return self.connection.call(
            "GET", "/v1/log", ReadLogAnswer, query=[("partition", partition), ("from", from_), ("count", count),
            ("stream", stream), ("kind", kind), ("since", since), ("until", until), ("actor", actor)],
            deadline=deadline)

    def get_log_head(self, *, deadline: float | None = None) -> list[LogHead]:
        """Returns the position and digest of every partition of the log. (LOG.HEAD)"""
        return self.connection.call("GET", "/v1/log/head", list[LogHead], deadline=deadline)

    def get_log_tree(
        self, partition: str, *, since: int | None = None, head: int | None = None, deadline: float | None = None,
    ) -> LogTree | None:
        """Returns what a partition of the log is, by a root over all of it, and proves that it goes on from what it
        was. (LOG.TREE)
        """
        return self.connection.call(
            "GET", f"/v1/log/tree/{segment(partition)}", LogTree | None, query=[("since", since), ("head", head)],
            deadline=deadline)

    # --- The server

    def list_clients(self, *, deadline: float | None = None) -> Clients:
        """Returns every connection of the line protocol. (CLIENT LIST)"""
        return self.connection.call("GET", "/v1/clients", Clients, deadline=deadline)

    def close_client(self, id: str, *, deadline: float | None = None) -> bool:
        """Closes a connection of the line protocol. (CLIENT KILL)"""
        return self.connection.call("DELETE", f"/v1/clients/{segment(id)}", bool, takes="closed", deadline=deadline)

    def get_information(self, *, deadline: float | None = None) -> Information:
        """Returns what INFO says."""
        return self.connection.call("GET", "/v1/info", Information, deadline=deadline)

    def list_delays(self, *, deadline: float | None = None) -> Delays:
        """Returns what held up the server, when, and for how many milliseconds. (LATENCY HISTORY)"""
        return self.connection.call("GET", "/v1/latency", Delays, deadline=deadline)

    def rebuild_projection(self, projection: str, *, deadline: float | None = None) -> Rebuild:
        """Begins to rebuild a projection's stored rows from the log; INFO projections says how far it is.
        (PROJECTION.REBUILD)
        """
        return self.connection.call(
            "POST", f"/v1/projections/{segment(projection)}/rebuild", Rebuild, deadline=deadline)

    def list_relays(self, *, deadline: float | None = None) -> Relays:
        """Returns how far each relay is in each partition, and what last failed. (RELAY.LIST)"""
        return self.connection.call("GET", "/v1/relays", Relays, deadline=deadline)

    def get_session(self, *, deadline: float | None = None) -> Session:
        """Says who the caller is."""
        return self.connection.call("GET", "/v1/session", Session, deadline=deadline)

    def list_slow_commands(self, *, deadline: float | None = None) -> SlowCommands:
        """Returns the latest commands that took long to execute. (SLOWLOG GET)"""
        return self.connection.call("GET", "/v1/slowlog", SlowCommands, deadline=deadline)

    # --- Documents that stay up to date

    def follow_kitchen(self, outlet: str, *, patience: float | None = None) -> Iterator[Update[Kitchen]]:
        """The orders that a kitchen has to cook. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"kitchen:{outlet}", Kitchen, patience)
