"""Tiffin over HTTP: a store to order from, and a console to sell at.

    from tiffin_client import Store

    with Store("http://127.0.0.1:7380") as store:
        ...

Calls are sent again after what passes, errors are `TiffinError` with a code, and documents that are followed come
whole.
"""

from .console import Console
from .errors import Code, TiffinError
from .money import Money
from .store import Store
from .stream import Away, Gone, Live, Update

__all__ = ["Away", "Code", "Console", "Gone", "Live", "Money", "Store", "TiffinError", "Update"]
