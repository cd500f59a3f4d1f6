"""Half a million people in PostgreSQL, SQLite, DuckDB and tantivy, each set up as an expert would do it."""

import os

from contestants import Peer, Postgres, SQLite
from people import BLOOD, EYES, FLAGS, HOBBIES, JOBS, LANGUAGES, LISTS, NUMBERS, PAGE, TEXTS

COLUMNS = ("id", "outlet", "item", "name", *NUMBERS, *TEXTS, *LISTS, *FLAGS, "description")
SHOWN = "outlet, item, name, label, points, description"


def _row(member) -> dict:
    return {"id": member.number, "outlet": member.club, "item": member.id, **{
        name: getattr(member, name) for name in COLUMNS[3:]}}


class SQLWriter:
    """Writes conditions on people in SQL, and collects their values."""

    def __init__(self, parameter, in_list):
        self.parameters = []
        self._parameter, self._in_list = parameter, in_list

    def _put(self, value) -> str:
        self.parameters.append(value)
        return self._parameter(len(self.parameters))

    def where(self, question, without=None) -> str:
        """What the question asks, except of that attribute."""
        return " and ".join(
            f"not ({self._written(condition)})" if condition.excluded else self._written(condition)
            for condition in question.conditions if condition.name != without) or "true"

    def _written(self, condition) -> str:
        name, values = condition.name, condition.values
        if name in LISTS:
            return self._in_list(name, [self._put(value) for value in values], len(values))
        if name in FLAGS:
            return name if values[0] else f"not {name}"
        if values:
            places = [self._put(value) for value in values]
            return f"{name} = {places[0]}" if len(places) == 1 else f"{name} in ({', '.join(places)})"
        ends = [(sign, end) for sign, end in ((">=", condition.low), ("<=", condition.high)) if end is not None]
        return " and ".join(f"{name} {sign} {self._put(end)}" for sign, end in ends)


def _ways_to_facets(question, writer, facet) -> list:
    """A scan for each facet, or one for all: lists of statements."""
    if not question.facets:
        return [[]]
    each = writer()
    counts = " union all ".join(facet(name, "people", each.where(question, name)) for name in question.facets)
    ways = [[("facets", counts, each.parameters)]]
    if not {condition.name for condition in question.conditions} & set(question.facets):
        # One scan of the matches, for facets that the question asks nothing of.
        every = writer()
        matched = f"select {', '.join(question.facets)} from people where {every.where(question)}"
        counts = " union all ".join(facet(name, "matched", "true") for name in question.facets)
        ways.append([("facets", f"with matched as materialized ({matched}) {counts}", every.parameters)])
    return ways


def _flag(name) -> str:
    return f"case when {name} then 'true' else 'false' end"


class PeopleInPostgres(Postgres):
    indexes = (
        "(name)", *(f"({name})" for name in NUMBERS), *(f"({name}, name)" for name in (*TEXTS, *FLAGS)),
        "(bloodType, age)", "(age, income)", "(label, age)", *(f"using gin ({name})" for name in LISTS),
    )

    def _load(self, people):
        run = self._connection.execute
        run("""
            create table people (
                id integer primary key, outlet text not null, item text not null, name text collate "C" not null,
                age smallint not null, height smallint not null, income integer not null, points smallint not null,
                shoeSize numeric(4, 1) not null, bloodType text not null, eyes text not null, label text not null,
                hobbies text[] not null, languages text[] not null, smoker boolean not null, vegan boolean not null,
                description text)""")
        with self._connection.cursor().copy(f"copy people ({', '.join(COLUMNS)}) from stdin") as copy:
            for member in people:
                copy.write_row([list(value) if isinstance(value, tuple) else value for value in _row(member).values()])
        run("set maintenance_work_mem = '512MB'")
        for index in self.indexes:
            run(f"create index on people {index}")
        run("vacuum (analyze) people")
        run("set work_mem = '64MB'")
        run("set effective_cache_size = '4GB'")
        run("set jit = off")

    @staticmethod
    def _writer() -> SQLWriter:
        return SQLWriter(lambda number: f"${number}", lambda name, places, _: f"{name} && array[{', '.join(places)}]")

    def alternatives(self, question):
        writer = self._writer()
        where = writer.where(question)
        pages = [
            f"select t.total, p.* from (select count(*) total from people where {where}) t "
            f"left join lateral (select {SHOWN} from people where {where} order by name limit {PAGE}) p on true",
            f"select count(*) over (), {SHOWN} from people where {where} order by name limit {PAGE}",
            f"with matched as materialized (select {SHOWN} from people where {where}) "
            f"select (select count(*) from matched), {SHOWN} from matched order by name limit {PAGE}",
        ]
        return [[("both", page, writer.parameters), *facets] for page in pages
                for facets in _ways_to_facets(question, self._writer, self._facet)]

    @staticmethod
    def _facet(name, source, where) -> str:
        if name in NUMBERS:
            return (f"select '{name}', e.name, e.value "
                    f"from (select min({name}), max({name}) from {source} where {where}) m (least, most) "
                    "cross join lateral (values ('min', m.least), ('max', m.most)) e (name, value)")
        if name in LISTS:
            return f"select '{name}', word, count(*) from {source}, unnest({name}) word where {where} group by word"
        value = _flag(name) if name in FLAGS else name
        return f"select '{name}', {value}, count(*) from {source} where {where} group by {name}"


class PeopleInSQLite(SQLite):
    indexes = (
        "(name)", *(f"({name})" for name in NUMBERS), *(f"({name}, name)" for name in (*TEXTS, *FLAGS)),
        "(bloodType, age, name)", "(age, income)", "(label, age)",
    )
    lists = ("people.id in (select person from {name} where word in ({places}))",
             "exists (select 1 from {name} where word in ({places}) and person = people.id)")

    def load(self, people):
        run = self._connection.execute
        run("pragma temp_store = memory")
        columns = [name for name in COLUMNS if name not in LISTS]
        run(f"create table people (id integer primary key, {', '.join(columns[1:])})")
        for name in LISTS:
            run(f"create table {name} (word text, person integer, primary key (word, person)) without rowid")
        run("begin")
        for member in people:
            self._insert(member)
        for number, index in enumerate(self.indexes):
            run(f"create index people_{number} on people {index}")
        for name in LISTS:
            run(f"create index of_{name} on {name} (person, word)")
        run("commit")
        run("analyze")

    def _insert(self, member):
        row = _row(member)
        lists = {name: row.pop(name) for name in LISTS}
        self._connection.execute(f"insert or replace into people values ({', '.join('?' * len(row))})", [*row.values()])
        for name, words in lists.items():
            self._connection.executemany(f"insert into {name} values (?, ?)", ((word, member.number) for word in words))

    def change(self, members):
        """Replaces these people."""
        self._connection.execute("begin")
        for member in members:
            for name in LISTS:
                self._connection.execute(f"delete from {name} where person = ?", (member.number,))
            self._insert(member)
        self._connection.execute("commit")

    @staticmethod
    def _writer(lists=lists[0]) -> SQLWriter:
        return SQLWriter(lambda _: "?", lambda name, places, _: lists.format(name=name, places=", ".join(places)))

    def alternatives(self, question):
        has_lists = any(condition.name in LISTS for condition in question.conditions)
        return [way for lists in (self.lists if has_lists else self.lists[:1]) for way in self._ways(question, lists)]

    def _ways(self, question, lists):
        writer = self._writer(lists)
        where = writer.where(question)
        order = f"order by name limit {PAGE}"
        facets = []
        if question.facets:
            of_facets = self._writer(lists)
            each = [self._facet(name, of_facets.where(question, name)) for name in question.facets]
            facets = [("facets", " union all ".join(each), of_facets.parameters)]
        return [
            [("total", f"select count(*) from people where {where}", writer.parameters),
             ("page", f"select null, {SHOWN} from people where {where} {order}", writer.parameters), *facets],
            [("both", f"select count(*) over (), {SHOWN} from people where {where} {order}", writer.parameters),
             *facets],
        ]

    @staticmethod
    def _facet(name, where) -> str:
        if name in NUMBERS:
            # Both ends in one pass: a compound would repeat the condition and its values.
            return (f"select '{name}', e.name, case e.name when 'min' then m.least else m.most end from "
                    f"(select min({name}) least, max({name}) most from people where {where}) m "
                    "cross join (select 'min' name union all select 'max') e")
        if name in LISTS:
            subset = f"where person in (select id from people where {where}) " if where != "true" else ""
            return f"select '{name}', word, count(*) from {name} {subset}group by word"
        value = _flag(name) if name in FLAGS else name
        return f"select '{name}', {value}, count(*) from people where {where} group by {name}"

    def count_between(self, question, name, low, high) -> int:
        """How many match the question, except for what it asks of an attribute, and have that between these."""
        writer = self._writer()
        where = writer.where(question, name)
        return self._connection.execute(
            f"select count(*) from people where {where} and {name} between ? and ?", [*writer.parameters, low, high]
        ).fetchone()[0]

    def window(self, question, first, count) -> tuple[int, list]:
        """How many match, and some of them in their order: the outlet, the item and the description of each."""
        writer = self._writer()
        where = writer.where(question)
        total, = self._connection.execute(f"select count(*) from people where {where}", writer.parameters).fetchone()
        return total, self._connection.execute(
            f"select outlet, item, description from people where {where} order by name limit ? offset ?",
            [*writer.parameters, count, first]).fetchall()


class PeopleInDuckDB(Peer):
    name = "DuckDB"
    has_aims = False
    # Threads: where little is read, one alone is faster.
    modes = (1, os.cpu_count() or 1)
    words = {"bloodType": BLOOD, "eyes": EYES, "label": JOBS, "hobbies": HOBBIES, "languages": LANGUAGES}
    # `list_has_any` takes ten times as long as the first of these.
    lists = (lambda name, places: " or ".join(f"list_contains({name}, {place})" for place in places),
             lambda name, places: f"id in (select person from of_{name} where word in ({', '.join(places)}))")

    def __init__(self):
        # Imported here, because the other sections do without it.
        import duckdb
        self._connection = duckdb.connect()
        self._statements = {}

    def close(self):
        self._connection.close()

    def enter(self, mode):
        self._connection.execute(f"set threads = {mode}")

    def load(self, people):
        run = self._connection.execute
        run("attach ':memory:' as packed (compress); use packed")
        for name, (words, _) in self.words.items():
            run(f"create type {name} as enum ({', '.join(map(_literal, words))})")
        types = {**dict.fromkeys(("id", *NUMBERS), "integer"), "shoeSize": "double", **{name: name for name in TEXTS},
                 **{name: f"{name}[]" for name in LISTS}, **dict.fromkeys(FLAGS, "boolean")}
        columns = (f"{name} {types.get(name, 'varchar')}" for name in COLUMNS)
        run(f"create table loaded ({', '.join(columns)})")
        appender = self._connection.appender("loaded")
        for member in people:
            appender.append_row(*_row(member).values())
        appender.flush()
        # In the order of the pages, so that a page is found without looking at every match.
        run("create table people as from loaded order by name; drop table loaded")
        for name in LISTS:
            run(f"create table of_{name} as select unnest({name}) word, id person from people order by word, person")
        run("checkpoint")

    def alternatives(self, question):
        has_lists = any(condition.name in LISTS for condition in question.conditions)
        return [way for lists in (self.lists if has_lists else self.lists[:1]) for way in self._ways(question, lists)]

    @staticmethod
    def _writer(lists) -> SQLWriter:
        return SQLWriter(lambda number: f"${number}", lambda name, places, _: f"({lists(name, places)})")

    def _ways(self, question, lists):
        writer = self._writer(lists)
        where = writer.where(question)
        page = f"select {SHOWN} from people where {where} order by name limit {PAGE}"
        pages = [
            [("total", f"select count(*) from people where {where}", writer.parameters),
             ("page", page.replace("select ", "select null, ", 1), writer.parameters)],
            [("both", f"select t.total, p.* from (select count(*) total from people where {where}) t "
                      f"left join ({page}) p on true order by name", writer.parameters)],
        ]
        return [[*asked, *facets] for asked in pages
                for facets in _ways_to_facets(question, lambda: self._writer(lists), self._facet)]

    @staticmethod
    def _facet(name, source, where) -> str:
        if name in NUMBERS:
            return (f"select '{name}', unnest(['min', 'max']), unnest([min({name}), max({name})])::varchar "
                    f"from {source} where {where}")
        value = f"unnest({name})" if name in LISTS else name
        return (f"select '{name}', value::varchar, count(*)::varchar from "
                f"(select {value} as value from {source} where {where}) group by value")

    def statement(self, sql):
        if sql not in self._statements:
            name = f"s{len(self._statements)}"
            self._connection.execute(f"prepare {name} as {sql}")
            self._statements[sql] = name
        return self._statements[sql]

    def render(self, question):
        return [(role, f"execute {name}({', '.join(map(_literal, parameters))})" if parameters else f"execute {name}")
                for role, name, parameters in super().render(question)]

    def ask(self, rendered):
        return [(role, self._connection.execute(sql).fetchall()) for role, sql in rendered]

    def taken_apart(self, answer):
        return answer


def _literal(value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


class PeopleInTantivy(Peer):
    name = "tantivy"
    has_aims = False
    # What the one thread of the writer gathers before it writes a segment: all of them.
    heap_bytes = 2_000_000_000

    def __init__(self, folder=None):
        """In memory, or in that folder."""
        # Imported here, because the other sections do without it.
        import tantivy
        self._tantivy = tantivy
        schema = tantivy.SchemaBuilder()
        for name in ("name", *TEXTS, *LISTS):
            schema.add_text_field(name, fast=True, stored=name in SHOWN.split(", "), tokenizer_name="raw",
                                  index_option="basic")
        for name in NUMBERS:
            add = schema.add_float_field if name == "shoeSize" else schema.add_integer_field
            add(name, indexed=True, fast=True, stored=name in SHOWN.split(", "))
        for name in FLAGS:
            schema.add_boolean_field(name, indexed=True, fast=True)
        for name in ("outlet", "item", "description"):
            schema.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = schema.build()
        # In the order of the pages.
        self._index = tantivy.Index(self._schema, path=folder, sort_by_field="name", sort_order=tantivy.Order.Asc)

    def close(self):
        del self._index, self._searcher

    def load(self, people):
        writer = self._index.writer(self.heap_bytes, 1)
        for member in people:
            row = {name: list(value) if isinstance(value, tuple) else value for name, value in _row(member).items()}
            del row["id"]
            writer.add_document(self._tantivy.Document(
                **{name: value for name, value in row.items() if value is not None}))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        if self._searcher.num_segments != 1:
            raise RuntimeError(f"tantivy has {self._searcher.num_segments} segments; its order of pages needs one")

    def alternatives(self, question):
        """Whether ranges are looked up in the index of words, or in the columns."""
        return [False, True]

    def render(self, question):
        if not question:
            return self._tantivy.Query.empty_query(), []
        by_words = self.alternatives(question)[self._way]
        # All match alike, so what comes first is the page. To ask for the order by name takes longer.
        query = self._tantivy.Query.const_score_query(self._query(question, by_words), 1.0)
        facets = {}
        for name in question.facets:
            # Facets that leave out the same condition are counted together.
            own = name if any(condition.name == name for condition in question.conditions) else None
            facets.setdefault(own, {}).update(self._aggregations(name))
        return query, [(self._query(question, by_words, own), wanted) for own, wanted in facets.items()]

    @staticmethod
    def _aggregations(name) -> dict:
        if name in NUMBERS:
            return {f"{name} {end}": {end: {"field": name}} for end in ("min", "max")}
        return {name: {"terms": {"field": name, "size": 1_000}}}

    def _query(self, question, by_words, without=None):
        occur, every = self._tantivy.Occur, self._tantivy.Query.all_query()
        parts = [(occur.MustNot if condition.excluded else occur.Must, self._condition(condition, by_words))
                 for condition in question.conditions if condition.name != without]
        if all(kind == occur.MustNot for kind, _ in parts):
            parts.append((occur.Must, every))
        return self._tantivy.Query.boolean_query(parts) if len(parts) > 1 else parts[0][1]

    def _condition(self, condition, by_words):
        query, name, values = self._tantivy.Query, condition.name, condition.values
        if len(values) == 1:
            return query.term_query(self._schema, name, values[0], index_option="basic")
        if values:
            return query.term_set_query(self._schema, name, values)
        kind = self._tantivy.FieldType.Float if name == "shoeSize" else self._tantivy.FieldType.Integer
        return query.range_query(self._schema, name, kind, condition.low, condition.high, use_inverted_index=by_words)

    def ask(self, rendered):
        query, facets = rendered
        found = self._searcher.search(query, limit=PAGE)
        return (found.count, [self._searcher.doc(address) for _, address in found.hits],
                [self._searcher.aggregate(asked, wanted) for asked, wanted in facets])

    def taken_apart(self, answer):
        return answer

    def total(self, answer) -> int:
        return answer[0]

    def page(self, answer) -> list:
        return [(document.get_first("outlet"), document.get_first("item")) for document in answer[1]]

    def facets(self, answer) -> dict:
        found = {}
        for name, result in (entry for part in answer[2] for entry in part.items()):
            if "buckets" in result:
                found |= {(name, bucket.get("key_as_string", bucket["key"])): bucket["doc_count"]
                          for bucket in result["buckets"]}
            elif result["value"] is not None:
                found[tuple(name.split())] = int(result["value"])
        return found
