"""Carts that the Python library eventsourcing keeps in PostgreSQL, for `Scripts/bench add`."""

import multiprocessing
import random
import time
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from psycopg.conninfo import conninfo_to_dict

LINE = {"outlet": "kitchen", "item": "dish-0", "name": "Dish-0", "unitPrice": 125_000, "currency": "LKR"}


class Cart(Aggregate):
    @staticmethod
    def create_id(number):
        return UUID(int=number)

    @event("Begun")
    def __init__(self, number, outlet, item, name, quantity, unitPrice, currency):
        self.lines = {item: quantity}

    @event("LineAdded")
    def add(self, outlet, item, name, quantity, unitPrice, currency):
        self.lines[item] = self.lines.get(item, 0) + quantity


class Carts:
    """Processes that change carts, each those that no other one changes.

    So none reads what others wrote, and each keeps its carts in memory, as Tiffin does."""

    def __init__(self, url, processes, carts):
        self._pipes, self._processes = [], []
        context = multiprocessing.get_context("fork")
        for first in range(processes):
            here, there = context.Pipe()
            process = context.Process(target=_change, args=(there, url, range(first, carts, processes)), daemon=True)
            process.start()
            self._pipes.append(here)
            self._processes.append(process)
            # One after the other: the first one makes the table.
            here.recv()
        self.pids = [process.pid for process in self._processes]

    def run(self, seconds) -> tuple:
        """Changes carts for so many seconds. Returns how many changes were durable in a second, and how many in all."""
        start = time.monotonic()
        for pipe in self._pipes:
            pipe.send(seconds)
        changes = sum(pipe.recv() for pipe in self._pipes)
        return changes / (time.monotonic() - start), changes

    def close(self):
        for process in self._processes:
            process.kill()
            process.join()


def _change(pipe, url, numbers):
    place = conninfo_to_dict(url)
    application = Application({
        "PERSISTENCE_MODULE": "eventsourcing.postgres", "POSTGRES_DBNAME": place["dbname"], "POSTGRES_HOST": place["host"],
        "POSTGRES_PORT": place.get("port", ""), "POSTGRES_USER": place["user"], "POSTGRES_PASSWORD": "",
        # A call of a function for each event, where it would be a transaction of five statements.
        "POSTGRES_ENABLE_DB_FUNCTIONS": "y",
        "AGGREGATE_CACHE_MAXSIZE": str(len(numbers)), "AGGREGATE_CACHE_FASTFORWARD": "n",
        "DEEPCOPY_FROM_AGGREGATE_CACHE": "n"})
    begun = set()
    pipe.send(None)
    while True:
        seconds, changes = pipe.recv(), 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            number = random.choice(numbers)
            if number in begun:
                cart = application.repository.get(Cart.create_id(number))
                cart.add(**LINE, quantity=1)
            else:
                begun.add(number)
                cart = Cart(number, **LINE, quantity=1)
            application.save(cart)
            changes += 1
        pipe.send(changes)
