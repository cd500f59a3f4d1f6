"""What both sites have.

Written by Scripts/clients from docs/openapi.json.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from .connection import Connection, filters as _filters, segment
from .documents import (
    CancelOrderBy, CartService, EndingCode, FoundItem, Home, Item, ItemPage, Menu, Order, OrderChangeInput, OrderPage,
    OrderProof, Outlet, OutletPage, ProveEventAnswer, ProveEventForm, SavedItems, SavedOutlets, SignedHead, Slots,
)
from .stream import Update, follow, question

S = TypeVar("S", bound="Site")


class Site:
    """What the store and the console have in common."""

    def __init__(self, connection: Connection):
        self.connection = connection

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is open."""
        self.connection.close()

    # --- Searching

    def search_items(
        self, filters: Mapping[str, Any] | None = None, *, text: str | None = None, cuisine: list[str] | None = None,
        city: list[str] | None = None, area: list[str] | None = None, outlet: list[str] | None = None,
        currency: list[str] | None = None, kind: list[str] | None = None, tag: list[str] | None = None,
        price: str | None = None, rating: str | None = None, delivery: str | None = None,
        open: Literal["1"] | None = None, sort: str | None = None, limit: int | None = None, after: str | None = None,
        facets: str | None = None, deadline: float | None = None,
    ) -> ItemPage:
        """Returns a page of the items that match every filter. (BROWSE)"""
        return self.connection.call(
            "GET", "/v1/browse", ItemPage, query=_filters(filters) + _filters({"text": text, "cuisine": cuisine,
            "city": city, "area": area, "outlet": outlet, "currency": currency, "kind": kind, "tag": tag,
            "price": price, "rating": rating, "delivery": delivery, "open": open, "sort": sort, "limit": limit,
            "after": after, "facets": facets}), deadline=deadline)

    def search_outlets(
        self, filters: Mapping[str, Any] | None = None, *, text: str | None = None, cuisine: list[str] | None = None,
        city: list[str] | None = None, area: list[str] | None = None, outlet: list[str] | None = None,
        currency: list[str] | None = None, kind: list[str] | None = None, tag: list[str] | None = None,
        price: str | None = None, rating: str | None = None, delivery: str | None = None,
        open: Literal["1"] | None = None, sort: str | None = None, limit: int | None = None, after: str | None = None,
        facets: str | None = None, deadline: float | None = None,
    ) -> OutletPage:
        """Returns a page of the outlets that match every filter. (OUTLETS)"""
        return self.connection.call(
            "GET", "/v1/outlets", OutletPage, query=_filters(filters) + _filters({"text": text, "cuisine": cuisine,
            "city": city, "area": area, "outlet": outlet, "currency": currency, "kind": kind, "tag": tag,
            "price": price, "rating": rating, "delivery": delivery, "open": open, "sort": sort, "limit": limit,
            "after": after, "facets": facets}), deadline=deadline)

    def surprise_me(
        self, filters: Mapping[str, Any] | None = None, *, text: str | None = None, cuisine: list[str] | None = None,
        city: list[str] | None = None, area: list[str] | None = None, outlet: list[str] | None = None,
        currency: list[str] | None = None, kind: list[str] | None = None, tag: list[str] | None = None,
        price: str | None = None, rating: str | None = None, delivery: str | None = None,
        open: Literal["1"] | None = None, seed: int | None = None, deadline: float | None = None,
    ) -> FoundItem:
        """Returns one of the items that match every filter, each equally likely. (SURPRISE)"""
        return self.connection.call(
            "GET", "/v1/surprise", FoundItem, query=_filters(filters) + _filters({"text": text, "cuisine": cuisine,
            "city": city, "area": area, "outlet": outlet, "currency": currency, "kind": kind, "tag": tag,
            "price": price, "rating": rating, "delivery": delivery, "open": open, "seed": seed}), deadline=deadline)

    # --- Orders

    def list_orders(
        self, *, outlet: str | None = None, customer: str | None = None, status: str | None = None,
        from_: str | None = None, until: str | None = None, after: str | None = None, count: int | None = None,
        at: str | None = None, deadline: float | None = None,
    ) -> OrderPage:
        """Returns a page of orders, now or as of a moment, the newest first. (ORDERS)"""
        return self.connection.call(
            "GET", "/v1/orders", OrderPage, query=[("outlet", outlet), ("customer", customer), ("status", status),
            ("from", from_), ("until", until), ("after", after), ("count", count), ("at", at)], deadline=deadline)

    def get_order(self, order: str, *, at: str | None = None, deadline: float | None = None) -> Order:
        """Returns an order, now or as of a moment. (ORDER.GET)"""
        return self.connection.call("GET", f"/v1/orders/{segment(order)}", Order, query=[("at", at)], deadline=deadline)

    def agree_to_change(
        self, order: str, digest: str, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Agrees to what the other party proposed, by the digest of the bill after it; returns the order's version.
        (ORDER.AGREE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/agree", int, takes="version", query=[("version", version)],
            body={"digest": digest}, has_key=True, key=key, deadline=deadline)

    def cancel_order(
        self, order: str, by: CancelOrderBy, code: EndingCode, *, reason: str | None = None,
        version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Ends an order that was not handed over; returns its version. (ORDER.CANCEL)"""
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/cancel", int, takes="version", query=[("version", version)],
            body={"by": by, "code": code, "reason": reason}, has_key=True, key=key, deadline=deadline)

    def change_order(
        self, order: str, by: CancelOrderBy, document: OrderChangeInput | Mapping[str, Any], *,
        within: int | None = None, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Proposes to change what is ordered, or changes it if that was agreed beforehand; returns the order's version.
        (ORDER.CHANGE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/change", int, takes="version",
            query=[("by", by), ("within", within), ("version", version)], body=document, has_key=True, key=key,
            deadline=deadline)

    def decline_change(
        self, order: str, *, by: CancelOrderBy | None = None, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Declines a change that the other party proposed, or withdraws one's own; returns the order's version.
        (ORDER.DECLINE)
        """
        return self.connection.call(
            "POST", f"/v1/orders/{segment(order)}/decline", int, takes="version", query=[("version", version)],
            body={"by": by}, has_key=True, key=key, deadline=deadline)

    def prove_order(self, order: str, *, deadline: float | None = None) -> OrderProof:
        """Returns a document that proves, without the log, what an order cost, and what was paid and given back.
        (ORDER.PROVE)
        """
        return self.connection.call("GET", f"/v1/orders/{segment(order)}/proof", OrderProof, deadline=deadline)

    # --- Menus

    def get_item(self, outlet: str, item: str, *, deadline: float | None = None) -> Item:
        """Returns an item in full, with its large image. (ITEM.GET)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/items/{segment(item)}", Item, deadline=deadline)

    def get_menu(self, outlet: str, *, deadline: float | None = None) -> Menu:
        """Returns an outlet's menu. (MENU.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}/menu", Menu, deadline=deadline)

    # --- Outlets

    def get_outlet(self, outlet: str, *, deadline: float | None = None) -> Outlet:
        """Returns an outlet's details. (OUTLET.GET)"""
        return self.connection.call("GET", f"/v1/outlets/{segment(outlet)}", Outlet, deadline=deadline)

    def get_home(self, outlet: str, *, at: str | None = None, deadline: float | None = None) -> Home:
        """Returns an outlet's home, now or as of a moment: sections, tag bar and carousels. (OUTLET.HOME)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/home", Home, query=[("at", at)], deadline=deadline)

    def list_slots(
        self, outlet: str, *, service: CartService | None = None, date: str | None = None,
        deadline: float | None = None,
    ) -> Slots:
        """Returns the times of a day that orders at an outlet can be placed ahead for. (SLOTS)"""
        return self.connection.call(
            "GET", f"/v1/outlets/{segment(outlet)}/slots", Slots, query=[("service", service), ("date", date)],
            deadline=deadline)

    # --- The log

    def get_signed_head(self, partition: str, *, deadline: float | None = None) -> SignedHead:
        """Returns the newest signed head of a partition of the log, with what witnesses have signed of it. (LOG.SIGNED)
        """
        return self.connection.call("GET", f"/v1/log/signed/{segment(partition)}", SignedHead, deadline=deadline)

    def prove_event(
        self, stream: str, version: str, *, head: int | None = None, form: ProveEventForm | None = None,
        deadline: float | None = None,
    ) -> ProveEventAnswer:
        """Returns a receipt that proves, without the log, that an event is in it. (LOG.PROVE)"""
        return self.connection.call(
            "GET", f"/v1/proof/{segment(stream)}/{segment(version)}", ProveEventAnswer,
            query=[("head", head), ("form", form)], deadline=deadline)

    # --- Documents that stay up to date

    def follow_order(self, order: str, *, patience: float | None = None) -> Iterator[Update[Order]]:
        """An order. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"order:{order}", Order, patience)

    def follow_home(self, outlet: str, *, patience: float | None = None) -> Iterator[Update[Home]]:
        """An outlet's home. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, f"home:{outlet}", Home, patience)

    def follow_items(
        self, filters: Mapping[str, Any], *, patience: float | None = None,
    ) -> Iterator[Update[SavedItems]]:
        """The first items that match every filter. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, question("browse", filters), SavedItems, patience)

    def follow_outlets(
        self, filters: Mapping[str, Any], *, patience: float | None = None,
    ) -> Iterator[Update[SavedOutlets]]:
        """The first outlets that match every filter. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, question("outlets", filters), SavedOutlets, patience)
