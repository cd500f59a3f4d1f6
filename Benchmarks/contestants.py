"""The contestants: Tiffin, PostgreSQL and SQLite, each set up as an expert would do it.

A contestant renders a question in advance, and is timed from sending it until the whole answer has come. The
answer is parsed afterwards: `total`, `page` and `facets`. The peers have more than one way to ask a question;
`prepare` tries them on a few questions of each kind and keeps the fastest.
"""

import json
import re
import sqlite3
import statistics
import time
from itertools import islice

from dishes import folded, price_band, text_bytes
from harness import checked
from questions import PAGE
from tiffin import ReplyError, encode

COLUMNS = (
    "id", "outlet", "item", "name", "price", "kind", "cuisine", "tags", "description", "outlet_name", "city", "area",
    "rating", "delivery", "is_open", "price_band", "joined")
SHOWN = "outlet, item, name, price, outlet_name, rating"
FACETS = ("cuisine", "city", "kind", "price_band")
# Each way to ask is tried on this many questions, or for this long once it has had a few.
TRIAL_QUESTIONS, FEWEST_TRIAL_QUESTIONS, TRIAL_SECONDS = 15, 3, 1.0


class Peer:
    """A database with one table of items, which also has their outlets' columns."""

    nothing = (("page", "select 1", ()),)

    modes = (None,)
    has_aims = True
    """Whether targets say how much faster Tiffin is to be."""

    def alternatives(self, question) -> list:
        """Ways to ask the question: lists of the role of each statement, its SQL and its parameters."""
        raise NotImplementedError

    def statement(self, sql):
        """The form of that SQL that `ask` takes."""
        return sql

    def enter(self, mode):
        """Sets how statements are planned from now on."""

    def prepare(self, questions):
        best = (float("inf"), None, 0)
        for mode in self.modes:
            self.enter(mode)
            for way in range(len(self.alternatives(questions[0]))):
                self._way = way
                best = min(best, (self._tried(questions[:TRIAL_QUESTIONS], best[0]), mode, way), key=lambda one: one[0])
        _, mode, self._way = best
        self.enter(mode)

    def _tried(self, questions, best) -> float:
        """Seconds for an answer, as a geometric mean, so that a way that is sometimes very slow does not win.

        Gives up, and counts as infinite, after twice the time that the best way so far takes for all of them."""
        rendered = [self.render(question) for question in questions]
        self.ask(rendered[0])
        seconds = []
        for one in rendered:
            seconds.append(_seconds(self.ask, one))
            if sum(seconds) > 2 * best * len(rendered):
                return float("inf")
            if len(seconds) >= FEWEST_TRIAL_QUESTIONS and sum(seconds) > TRIAL_SECONDS:
                break
        return statistics.geometric_mean(seconds)

    def render(self, question):
        """What `ask` takes. No question at all measures the cost of asking alone."""
        statements = self.alternatives(question)[self._way] if question else self.nothing
        return [(role, self.statement(sql), parameters) for role, sql, parameters in statements]

    def total(self, answer) -> int:
        return next((int(rows[0][0]) for role, rows in answer if role in ("total", "both") and rows), 0)

    def page(self, answer) -> list:
        """The outlet and item of each row."""
        rows = next(rows for role, rows in answer if role in ("page", "both"))
        return [(row[1], row[2]) for row in rows if row[1] is not None]

    def facets(self, answer) -> dict:
        rows = next((rows for role, rows in answer if role == "facets"), [])
        return {(name, value): int(count) for name, value, count in rows if value is not None}


def _seconds(run, *arguments) -> float:
    start = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - start


def _facet_statements(matched, *ways_to_count_tags):
    """One scan of the matches for all facets, or one scan for each, with every way to count tags."""
    each = [f"select '{name}', cast({name} as text), count(*) from matched group by {name}" for name in FACETS]
    return [f"with matched as {kind} ({matched}) {' union all '.join([*each, tags])}"
            for kind in ("materialized", "not materialized") for tags in ways_to_count_tags]


# --- PostgreSQL


class Postgres(Peer):
    name = "PostgreSQL"
    # One plan for each question's values, or one for all; a random page at the cost of a disk, or of memory.
    modes = tuple((plan, cost) for plan in ("force_custom_plan", "force_generic_plan") for cost in (4, 1.1))
    orders = {
        "price": "price, id", "-price": "price desc, id desc", "rating": "rating desc, id", "delivery": "delivery, id",
        "name": "lower(name), id",
    }
    indexes = (
        "(price, id)", "(rating desc, id)", "(delivery, id)", "(lower(name), id)", "(city, cuisine, rating)",
        "(city, price)", "(city, rating desc, id)", "(city, lower(name))", "(cuisine, price)", "(area, delivery)",
        "(outlet)", "(kind, price)", "(is_open)", "(price_band)",
        "using gin (tags)", "using gin (search)", "using gin (folded gin_trgm_ops)",
    )

    def __init__(self, url):
        # Imported here, because the other sections do without it.
        try:
            import psycopg
        except ImportError:
            raise RuntimeError("the Python package psycopg is missing; Scripts/setup bench installs it") from None
        self._psycopg = psycopg
        self._connection = psycopg.connect(url, autocommit=True)
        self._statements = {}

    def close(self):
        self._connection.close()

    def load(self, dishes):
        try:
            self._load(dishes)
        except self._psycopg.Error as error:
            raise RuntimeError(f"PostgreSQL: {error}") from None

    def _load(self, dishes):
        run = self._connection.execute
        run("create extension pg_trgm")
        run("""
            create table items (
                id integer primary key, outlet text not null, item text not null, name text not null,
                price integer not null, kind text not null, cuisine text, tags text[] not null, description text,
                outlet_name text not null, city text not null, area text not null, rating smallint not null,
                delivery smallint not null, is_open boolean not null, price_band integer not null,
                joined text, folded text not null,
                search tsvector not null generated always as (to_tsvector('simple', folded)) stored)""")
        with self._connection.cursor().copy(f"copy items ({', '.join(COLUMNS)}, folded) from stdin") as copy:
            for row in _rows(dishes):
                words = [row["name"], row["description"], row["cuisine"], *row["tags"], row["joined"]]
                copy.write_row([*({**row, "tags": list(row["tags"])}[column] for column in COLUMNS),
                                folded(" ".join(filter(None, words)))])
        run("set maintenance_work_mem = '512MB'")
        for index in self.indexes:
            run(f"create index on items {index}")
        run("vacuum (analyze) items")
        run("set work_mem = '64MB'")
        run("set effective_cache_size = '4GB'")
        run("set jit = off")

    def alternatives(self, question):
        texts = ("search @@ to_tsquery('simple', {0})", "folded ~ {0}") if question.text else (None,)
        ways = []
        for text in texts:
            parameters = []
            where = self._where(question, text, parameters)
            if question.surprise:
                ways += [[(role, sql, parameters)] for role, sql in (
                    ("page", f"select null, {SHOWN} from items where {where} limit 1 offset "
                             f"(select floor(random() * count(*))::bigint from items where {where})"),
                    ("page", f"select null, {SHOWN} from items where {where} order by random() limit 1"))]
                continue
            paged = parameters
            if question.sort != "relevance":
                order = self.orders[question.sort]
            elif text is texts[0]:
                order = "ts_rank(search, to_tsquery('simple', $1)) desc, id"
            else:
                # The trigram index finds the matches; the rank is still that of the words.
                paged = [*parameters, self._query(question)]
                order = f"ts_rank(search, to_tsquery('simple', ${len(paged)})) desc, id"
            pages = [
                f"select t.total, p.* from (select count(*) total from items where {where}) t "
                f"left join lateral (select {SHOWN} from items where {where} order by {order} limit {PAGE}) p on true",
                f"select count(*) over (), {SHOWN} from items where {where} order by {order} limit {PAGE}",
            ]
            if question.sort != "relevance":
                # Keeps the planner from walking the index of the order in hope of finding twenty soon.
                pages.append(
                    f"with matched as materialized (select id, delivery, {SHOWN} from items where {where}) "
                    f"select (select count(*) from matched), {SHOWN} from matched order by {order} limit {PAGE}")
            facets = [None]
            if question.facets:
                matched = f"select {', '.join(FACETS)}, tags from items where {where}"
                facets = [*_facet_statements(
                    matched, "select 'tag', tag, count(*) from matched, unnest(tags) tag group by tag"),
                    f"select case {' '.join(f'when grouping({name}) = 0 then {name!r}' for name in FACETS)} end, "
                    f"coalesce({', '.join(f'{name}::text' for name in FACETS)}), count(*) from items where {where} "
                    f"group by grouping sets ({', '.join(f'({name})' for name in FACETS)}) union all "
                    f"select 'tag', tag, count(*) from items, unnest(tags) tag where {where} group by tag"]
            ways += [[("both", page, paged)] + ([("facets", facet, parameters)] if facet else [])
                     for page in pages for facet in facets]
        return ways

    def _query(self, question):
        return " & ".join(question.words()) + ":*"

    def _where(self, question, text, parameters):
        conditions = []

        def add(condition, *values):
            first = len(parameters) + 1
            parameters.extend(values)
            conditions.append(condition.format(*(f"${first + n}" for n in range(len(values)))))

        if text and text.startswith("search"):
            add(text, self._query(question))
        elif text:
            *whole, last = question.words()
            for word in whole:
                add(text, rf"\m{word}\M")
            add(text, rf"\m{last}")
        if len(question.cuisines) == 1:
            add("cuisine = {0}", *question.cuisines)
        elif question.cuisines:
            add("cuisine = any({0}::text[])", _array(question.cuisines))
        for column in ("city", "area", "outlet", "kind"):
            if value := getattr(question, column):
                add(f"{column} = {{0}}", value)
        if question.tags:
            add("tags @> {0}::text[]", _array(question.tags))
        if question.price:
            add("price between {0}::int and {1}::int", *question.price)
        if question.rating:
            add("rating >= {0}::smallint", question.rating)
        if question.delivery:
            add("delivery <= {0}::smallint", question.delivery)
        if question.open:
            add("is_open")
        return " and ".join(conditions) or "true"

    def statement(self, sql):
        if sql not in self._statements:
            name = f"s{len(self._statements)}".encode()
            self._checked(self._connection.pgconn.prepare(name, sql.encode()))
            self._statements[sql] = name
        return self._statements[sql]

    def enter(self, mode):
        plan, cost = mode
        self._connection.execute(f"set plan_cache_mode = {plan}")
        self._connection.execute(f"set random_page_cost = {cost}")
        # A cached plan was made for the old cost.
        self._connection.execute("discard plans")

    def render(self, question):
        return [(role, name, [str(value).encode() for value in parameters])
                for role, name, parameters in super().render(question)]

    def ask(self, rendered):
        # libpq itself: values become Python's when they are read.
        execute = self._connection.pgconn.exec_prepared
        return [(role, self._checked(execute(name, parameters))) for role, name, parameters in rendered]

    def taken_apart(self, answer):
        return [(role, [tuple(_text(result.get_value(row, column)) for column in range(result.nfields))
                        for row in range(result.ntuples)])
                for role, result in answer]

    def _checked(self, result):
        if result.status not in (self._psycopg.pq.ExecStatus.COMMAND_OK, self._psycopg.pq.ExecStatus.TUPLES_OK):
            raise RuntimeError(f"PostgreSQL: {result.error_message.decode()}")
        return result


def _array(texts) -> str:
    return "{" + ",".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts) + "}"


def _text(value):
    return None if value is None else value.decode()


# --- SQLite


class SQLite(Peer):
    name = "SQLite"
    orders = {**Postgres.orders, "name": "name collate nocase, id", "relevance": "search.rank"}
    indexes = (
        "(price, id)", "(rating desc, id)", "(delivery, id)", "(name collate nocase, id)", "(city, cuisine, rating)",
        "(city, price)", "(city, rating desc, id)", "(city, name collate nocase)", "(cuisine, price)",
        "(area, delivery)", "(outlet)", "(kind, price)", "(is_open, price)", "(is_open, rating desc, id)",
        "(is_open, delivery, id)", "(price_band)",
    )

    def __init__(self):
        self._connection = sqlite3.connect(":memory:", cached_statements=512, isolation_level=None)

    def close(self):
        self._connection.close()

    def load(self, dishes):
        run = self._connection.execute
        run("pragma temp_store = memory")
        run(f"create table items (id integer primary key, {', '.join(COLUMNS[1:])})")
        run("create table item_tags (tag text, item integer, primary key (tag, item)) without rowid")
        run("""create virtual table search using fts5(
            name, description, cuisine, tags, joined, content = 'items', content_rowid = 'id', prefix = '1 2 3',
            tokenize = 'unicode61 remove_diacritics 2')""")
        run("begin")
        rows = _rows(dishes)
        marks = ", ".join("?" * len(COLUMNS))
        while batch := list(islice(rows, 5_000)):
            self._connection.executemany(
                f"insert into items values ({marks})",
                ([{**row, "tags": ",".join(row["tags"])}[column] for column in COLUMNS] for row in batch))
            self._connection.executemany(
                "insert into item_tags values (?, ?)", ((tag, row["id"]) for row in batch for tag in row["tags"]))
        for number, index in enumerate(self.indexes):
            run(f"create index items_{number} on items {index}")
        run("create index item_tags_of_item on item_tags (item, tag)")
        run("insert into search(search) values ('rebuild')")
        run("insert into search(search) values ('optimize')")
        run("commit")
        run("analyze")

    def alternatives(self, question):
        ways = []
        # Words as a condition on items, or as the start of the search; tags as a set, or looked up for each item.
        for by_words in (False, True) if question.text and question.sort != "relevance" else (bool(question.text),):
            for tags in TAG_CONDITIONS if question.tags else TAG_CONDITIONS[:1]:
                ways += self._alternatives(question, by_words, tags)
        return ways

    def _alternatives(self, question, by_words, tags):
        where, parameters = self._where(question, by_words, tags)
        source = "search join items on items.id = search.rowid" if by_words else "items"
        shown = f"select null, {SHOWN_OF_ITEMS} from {source} where {where}"
        if question.surprise:
            return [
                [("page", f"{shown} limit 1 offset (select abs(random()) % max(count(*), 1) "
                          f"from {source} where {where})", parameters * 2)],
                [("page", f"{shown} order by random() limit 1", parameters)]]
        # What one index alone can answer is counted there.
        counted, condition = source, self._where(question, by_words, TAG_CONDITIONS[0])[0]
        if where == MATCH:
            counted = "search"
        elif question.tags and len(parameters) == 1:
            counted, condition = "item_tags", "tag = ?"
        total = ("total", f"select count(*) from {counted} where {condition}", parameters)
        order = f"order by {self.orders[question.sort]} limit {PAGE}"
        ways = [
            [total, ("page", f"{shown} {order}", parameters)],
            [("both", f"select count(*) over (), {SHOWN_OF_ITEMS} from {source} where {where} {order}", parameters)],
        ]
        if where == MATCH and question.sort == "relevance":
            # The best matches are found in the index alone, and only these are looked up.
            ways.append([total, (
                "page", f"select null, {SHOWN_OF_ITEMS} from (select rowid, rank from search where {MATCH} "
                        f"order by rank limit {PAGE}) best join items on items.id = best.rowid order by best.rank",
                parameters)])
        if not question.facets:
            return ways
        matched = f"select items.id, {', '.join(f'items.{name}' for name in FACETS)} from {source} where {where}"
        subset = " where item in (select id from matched)" if where != "true" else ""
        facets = _facet_statements(
            matched, f"select 'tag', tag, count(*) from item_tags{subset} group by tag",
            "select 'tag', tag, count(*) from matched cross join item_tags on item_tags.item = matched.id group by tag")
        return [[*way, ("facets", facet, parameters)] for way in ways for facet in facets]

    def _where(self, question, by_words, tags):
        conditions, parameters = [], []

        def add(condition, *values):
            conditions.append(condition)
            parameters.extend(values)

        if question.text:
            match = " ".join(f'"{word}"' for word in question.words()) + "*"
            add(MATCH if by_words else f"items.id in (select rowid from search where {MATCH})", match)
        if len(question.cuisines) == 1:
            add("items.cuisine = ?", *question.cuisines)
        elif question.cuisines:
            add(f"items.cuisine in ({', '.join('?' * len(question.cuisines))})", *question.cuisines)
        for column in ("city", "area", "outlet", "kind"):
            if value := getattr(question, column):
                add(f"{column} = ?", value)
        for tag in question.tags:
            add(tags, tag)
        if question.price:
            add("price between ? and ?", *question.price)
        if question.rating:
            add("rating >= ?", question.rating)
        if question.delivery:
            add("delivery <= ?", question.delivery)
        if question.open:
            add("is_open = 1")
        return " and ".join(conditions) or "true", parameters

    def ask(self, rendered):
        return [(role, self._connection.execute(sql, parameters).fetchall()) for role, sql, parameters in rendered]

    def taken_apart(self, answer):
        return answer

    def sort_keys(self, page, sort) -> list:
        """The sort keys of the page's rows, None for a row that is not an item. It judges everybody's pages."""
        column = sort.lstrip("-")
        rows = (self._connection.execute(f"select {column} from items where outlet = ? and item = ?", pair).fetchone()
                for pair in page)
        return [row and row[0] for row in rows]

    def matches(self, question, pair) -> bool:
        """Whether that outlet's item is among those asked for."""
        where, parameters = self._where(question, False, TAG_CONDITIONS[0])
        return self._connection.execute(
            f"select 1 from items where {where} and items.outlet = ? and items.item = ?", [*parameters, *pair]
        ).fetchone() is not None


MATCH = "search match ?"
TAG_CONDITIONS = (
    "items.id in (select item from item_tags where tag = ?)",
    "exists (select 1 from item_tags where tag = ? and item = items.id)",
)
# The index of words has its own name and description.
SHOWN_OF_ITEMS = ", ".join(f"items.{column}" for column in SHOWN.split(", "))


def _rows(dishes):
    for outlet, item in dishes:
        yield {
            "id": item.number, "outlet": outlet.id, "item": item.id, "name": item.name, "price": item.price,
            "kind": item.kind, "cuisine": item.cuisine, "tags": item.tags, "description": item.description,
            "outlet_name": outlet.name, "city": outlet.city, "area": outlet.area, "rating": outlet.rating,
            "delivery": outlet.delivery_minutes, "is_open": outlet.is_open and item.is_available,
            "price_band": price_band(item.price),
            # Words that are also found without their apostrophe, as in Tiffin.
            "joined": re.sub("['’]", "", " ".join(
                re.findall(r"\w+(?:['’]\w+)+", f"{item.name} {item.description or ''}"))) or None,
        }


# --- Tiffin


class Tiffin:
    name = "Tiffin"
    columns = {"cuisines": "cuisine", "cities": "city", "kinds": "kind", "tags": "tag", "prices": "price_band"}

    def __init__(self, client):
        self._client = client

    def prepare(self, questions):
        pass

    def render(self, question):
        return encode(*(command(question) if question else ("PING",)))

    def ask(self, rendered):
        self._client.send(rendered)
        reply = self._client.read()
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    def taken_apart(self, answer):
        return None if answer is None else json.loads(answer)

    def total(self, document) -> int:
        return document["total"]

    @staticmethod
    def page(document) -> list:
        """The outlet and item of each row, or of the one that SURPRISE gives."""
        items = [] if document is None else document.get("items", [document])
        return [(item["outlet"], item["item"]) for item in items]

    def facets(self, document) -> dict:
        """The counts by the facet's column and value; for prices, the lower end of the band."""
        facets = document["facets"]
        counts = {
            (column, entry["value"]): entry["count"]
            for name, column in self.columns.items() if column != "price_band" for entry in facets[name]}
        return counts | {("price_band", str(band["from"])): band["count"] for band in facets["prices"]["bands"]}


def command(question) -> list:
    """The question as a command of Tiffin."""
    words = ["SURPRISE" if question.surprise else "BROWSE"]
    if question.text:
        words += ["TEXT", question.text]
    if question.cuisines:
        words += ["CUISINE", *question.cuisines]
    for name in ("city", "area", "outlet", "kind"):
        if value := getattr(question, name):
            words += [name.upper(), value]
    for tag in question.tags:
        words += ["TAG", tag]
    if question.price:
        words += ["PRICE", *question.price]
    if question.rating:
        words += ["RATING", f"{question.rating / 100:g}"]
    if question.delivery:
        words += ["DELIVERY", question.delivery]
    if question.open:
        words += ["OPEN"]
    if not question.surprise:
        words += ["SORT", question.sort, "LIMIT", PAGE]
    if question.facets:
        words += ["FACETS"]
    return words


def load_tiffin(client, dishes) -> float:
    """Puts the catalogue into Tiffin. Returns the bytes of an item's own text, on average."""
    checked(client.pipeline(dishes.commands(), window=64))
    return sum(text_bytes(item.document(outlet)) for outlet, item in dishes) / dishes.total
