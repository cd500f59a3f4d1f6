"""The store, for customers.

Written by Scripts/clients from docs/openapi.json.
"""

from collections.abc import Iterator

from .connection import Connection, Visitor, segment
from .documents import Cart, CartService, Forgetting, OrderMissing, Quote
from .site import Site
from .stream import Update, follow


class Store(Site):
    """The store: one customer, with a cart and orders of their own.

    `session` is the secret of a customer who was here before, from the property of that name. `deadline` is how many
    seconds a call may take with all its attempts, unless the call has its own.
    """

    def __init__(self, url: str = "http://127.0.0.1:7380", *, session: str | None = None, deadline: float = 30.0):
        self._visitor = Visitor(session)
        super().__init__(Connection(url, self._visitor, deadline))

    @property
    def session(self) -> str:
        """The secret that makes this customer the same one the next time. It changes with every order."""
        return self._visitor.session

    # --- The cart

    def get_cart(self, *, deadline: float | None = None) -> Cart | None:
        """Returns a cart with its lines and total, now or as of a moment, or null. (CART.GET)"""
        return self.connection.call("GET", "/v1/cart", Cart | None, deadline=deadline)

    def place_order(
        self, *, address: str | None = None, missing: OrderMissing | None = None, name: str | None = None,
        phone: str | None = None, quote: str | None = None, total: int | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> str:
        """Places an order for what is in a cart, if it still costs that; returns the order's id. (CART.CHECKOUT)"""
        return self.connection.call(
            "POST", "/v1/cart/checkout", str, takes="order", query=[("version", version)], body={"address": address,
            "missing": missing, "name": name, "phone": phone, "quote": quote, "total": total}, has_key=True, key=key,
            deadline=deadline)

    def say_code(
        self, code: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says a code of a promotion of the cart's outlet; returns the cart's count. (CART.CODE)"""
        return self.connection.call(
            "POST", "/v1/cart/codes", int, takes="count", query=[("version", version)], body={"code": code},
            has_key=True, key=key, deadline=deadline)

    def take_back_code(
        self, code: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Takes back a code; returns the cart's count. (CART.UNCODE)"""
        return self.connection.call(
            "DELETE", f"/v1/cart/codes/{segment(code)}", int, takes="count", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def count_cart(self, *, deadline: float | None = None) -> int:
        """Returns how many items a cart holds: 0 if it is unknown or checked out. (CART.COUNT)"""
        return self.connection.call("GET", "/v1/cart/count", int, takes="count", deadline=deadline)

    def clear_cart(self, *, version: int | None = None, key: str | None = None, deadline: float | None = None) -> int:
        """Removes every line; returns the cart's count, 0. (CART.CLEAR)"""
        return self.connection.call(
            "DELETE", "/v1/cart/lines", int, takes="count", query=[("version", version)], has_key=True, key=key,
            deadline=deadline)

    def add_to_cart(
        self, outlet: str, item: str, quantity: int, *, for_: str | None = None, note: str | None = None,
        options: str | None = None, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Adds some of an item to a cart; returns the cart's count. (CART.ADD)"""
        return self.connection.call(
            "POST", "/v1/cart/lines", int, takes="count", query=[("version", version)], body={"outlet": outlet,
            "item": item, "quantity": quantity, "for": for_, "note": note, "options": options}, has_key=True, key=key,
            deadline=deadline)

    def remove_line(
        self, line: str, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Removes a line; returns the cart's count. (CART.REMOVE)"""
        return self.connection.call(
            "DELETE", f"/v1/cart/lines/{segment(line)}", int, takes="count", query=[("version", version)],
            has_key=True, key=key, deadline=deadline)

    def set_quantity(
        self, line: str, quantity: int, *, version: int | None = None, key: str | None = None,
        deadline: float | None = None,
    ) -> int:
        """Sets a line's quantity, and removes the line for 0; returns the cart's count. (CART.SET)"""
        return self.connection.call(
            "PATCH", f"/v1/cart/lines/{segment(line)}", int, takes="count", query=[("version", version)],
            body={"quantity": quantity}, has_key=True, key=key, deadline=deadline)

    def edit_line(
        self, line: str, *, note: str | None = None, options: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Changes a line's options or note, at today's price; returns the cart's count. (CART.EDIT)"""
        return self.connection.call(
            "PUT", f"/v1/cart/lines/{segment(line)}", int, takes="count", query=[("version", version)],
            body={"note": note, "options": options}, has_key=True, key=key, deadline=deadline)

    def get_quote(self, *, deadline: float | None = None) -> Quote | None:
        """Returns what a cart costs now, with taxes, fees and tip, and a digest to check out with, or null.
        (CART.QUOTE)
        """
        return self.connection.call("GET", "/v1/cart/quote", Quote | None, deadline=deadline)

    def choose_service(
        self, service: CartService, *, for_: str | None = None, table: str | None = None, version: int | None = None,
        key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Says how a cart's order is to be had, as its outlet offers, and when; returns the cart's count.
        (CART.SERVICE)
        """
        return self.connection.call(
            "PUT", "/v1/cart/service", int, takes="count", query=[("version", version)],
            body={"service": service, "for": for_, "table": table}, has_key=True, key=key, deadline=deadline)

    def set_tip(
        self, amount: int, *, version: int | None = None, key: str | None = None, deadline: float | None = None,
    ) -> int:
        """Sets what the customer gives beside what is charged, 0 for nothing; returns the cart's count. (CART.TIP)"""
        return self.connection.call(
            "PUT", "/v1/cart/tip", int, takes="count", query=[("version", version)], body={"amount": amount},
            has_key=True, key=key, deadline=deadline)

    # --- People

    def forget_me(self, *, deadline: float | None = None) -> Forgetting:
        """Destroys the keys of customers, so that nobody can read their texts any more; returns what it did.
        (CUSTOMER.FORGET)
        """
        return self.connection.call("DELETE", "/v1/me", Forgetting, deadline=deadline)

    # --- Documents that stay up to date

    def follow_cart(self, *, patience: float | None = None) -> Iterator[Update[Cart]]:
        """The customer's cart; gone until something is in it. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, "cart", Cart, patience)

    def follow_cart_count(self, *, patience: float | None = None) -> Iterator[Update[int]]:
        """How many items the customer's cart holds. Each state of it from now on, as `stream.follow` says."""
        return follow(self.connection, "cart_count", int, patience)
