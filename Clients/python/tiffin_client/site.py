"""What both sites have.

Written by Scripts/clients from docs/openapi.json.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Self

from .connection import Connection, filters as _filters, segment
from .stream import Update, follow, question


class Site:
    """What the store and the console have in common."""

    def __init__(self, connection: Connection):
        self.connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is open."""
        self.connection.close()

    # --- Searching

    def browse(self, filters: Mapping[str, Any] | None = None, *, deadline: float | None = None) -> Any:
        """Returns a page of the items that match every filter. (BROWSE)"""
        return self.connection.call("GET", "/v1/browse", query=_filters(filters), deadline=deadline)

    def outlets(self, filters: Mapping[str, Any] | None = None, *, deadline: float | None = None) -> Any:
        """Returns a page of the outlets that match every filter. (OUTLETS)"""
        return self.connection.call("GET", "/v1/outlets", query=_filters(filters), deadline=deadline)

    def surprise(self, filters: Mapping[str, Any] | None = None, *, deadline: float | None = None) -> Any:
        """Returns one of the items that match every filter, each equally likely, or null. (SURPRISE)"""
        return self.connection.call("GET", "/v1/surprise", query=_filters(filters), deadline=deadline)

    # --- Orders

    def orders(
        self, *, outlet: str | None = None, customer: str | None = None, status: str | None = None,
        from_: str | None = None, until: str | None = None, after: str | None = None, count: int | None = None,
        at: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Returns a page of orders, now or as of a moment, the newest first. (ORDERS)"""
        return self.connection.call(
            "GET", "/v1/orders",
            query=[("outlet", outlet), ("customer", customer), ("status", status), ("from", from_), ("until", until), ("after", after), ("count", count), ("at", at)],
            deadline=deadline)

    def order_get(self, order: str, *, at: str | None = None, deadline: float | None = None) -> Any:
        """Returns an order, now or as of a moment, or what has changed in it, or null. (ORDER.GET)"""
        return self.connection.call("GET", f"/v1/orders/{segment(order)}", query=[("at", at)], deadline=deadline)

    def order_agree(
        self, order: str, digest: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Agrees to what the other party proposed, by the digest of the bill after it; returns the order's version.
        (ORDER.AGREE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/agree", query=[("version", version)], body={"digest": digest},
            has_key=True, key=key, deadline=deadline)

    def order_cancel(
        self, order: str, by: str, code: str, *, reason: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Ends an order that was not handed over; returns its version. (ORDER.CANCEL)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/cancel", query=[("version", version)],
            body={"by": by, "code": code, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def order_change(
        self, order: str, by: str, document: Mapping[str, Any], *, within: int | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Proposes to change what is ordered, or changes it if that was agreed beforehand; returns the order's version.
        (ORDER.CHANGE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/change",
            query=[("by", by), ("within", within), ("version", version)], body=document, has_key=True, key=key,
            deadline=deadline)

    def order_decline(
        self, order: str, *, by: str | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Declines a change that the other party proposed, or withdraws one's own; returns the order's version.
        (ORDER.DECLINE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/decline", query=[("version", version)], body={"by": by},
            has_key=True, key=key, deadline=deadline)

    # --- Menus

    def item_get(self, outlet: str, item: str, *, deadline: float | None = None) -> Any:
        """Returns an item in full, with its large image, or what has changed in it, or null. (ITEM.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}", deadline=deadline)

    def menu_get(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns an outlet's menu, or what has changed in it, or null. (MENU.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/menu", deadline=deadline)

    # --- Outlets

    def outlet_get(self, outlet: str, *, deadline: float | None = None) -> Any:
        """Returns an outlet's details, or null. (OUTLET.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}", deadline=deadline)

    def outlet_home(self, outlet: str, *, at: str | None = None, deadline: float | None = None) -> Any:
        """Returns an outlet's home, now or as of a moment: sections, tag bar and carousels, or null. (OUTLET.HOME)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/home", query=[("at", at)], deadline=deadline)

    def slots(
        self, outlet: str, *, service: str | None = None, date: str | None = None, deadline: float | None = None,
    ) -> Any:
        """Returns the times of a day that orders at an outlet can be placed ahead for. (SLOTS)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/slots", query=[("service", service), ("date", date)],
            deadline=deadline)

    # --- The log

    def log_prove(
        self, stream: str, version: str, *, head: int | None = None, form: str | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Returns a receipt that proves, without the log, that an event is in it. (LOG.PROVE)"""
        return self.connection.call(
            "GET", f"/v1/proof/{segment(stream)}/{segment(version)}", query=[("head", head), ("form", form)],
            deadline=deadline)

    # --- Documents that stay up to date

    def follow_order(self, order: str, *, patience: float | None = None) -> Iterator[Update[Any]]:
        """An order. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"order:{order}", Any, patience)

    def follow_home(self, outlet: str, *, patience: float | None = None) -> Iterator[Update[Any]]:
        """An outlet's home. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"home:{outlet}", Any, patience)

    def follow_items(self, filters: Mapping[str, Any], *, patience: float | None = None) -> Iterator[Update[Any]]:
        """The first items that match every filter. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, question("browse", filters), Any, patience)

    def follow_outlets(self, filters: Mapping[str, Any], *, patience: float | None = None) -> Iterator[Update[Any]]:
        """The first outlets that match every filter. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, question("outlets", filters), Any, patience)
