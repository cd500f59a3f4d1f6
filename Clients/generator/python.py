"""The client in Python: `documents.py` and a module for each site."""

import keyword
import re

from api import (
    ANY, API, Alias, List, Map, Named, Nullable, Object, OneOf, Operation, Simple, Topic, Type, Word, Words, named_in,
    parts, snake)
from text import comment, listed, sentence

HEAD = '"""{}\n\nWritten by Scripts/clients from docs/openapi.json.\n"""\n'
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "any": "Any", "null": "None"}
FILES = {
    "site": ("Site", ["store", "console"], "What both sites have."),
    "store": ("Store", ["store"], "The store, for customers."),
    "console": ("Console", ["console"], "The console, for merchants, auditors and admins."),
}
STARTS = {
    "Site": '''S = TypeVar("S", bound="Site")


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
''',
    "Store": '''class Store(Site):
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
''',
    "Console": '''class Console(Site):
    """The console: a user, who has a name and a token; nobody needs them as long as there are no users.

    `deadline` is how many seconds a call may take with all its attempts, unless the call has its own.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:7381", *, user: str | None = None, token: str | None = None,
        deadline: float = 30.0,
    ):
        super().__init__(Connection(url, Login(user, token), deadline))
''',
}


def files(api: API) -> dict[str, str]:
    found = {"documents.py": documents(api)}
    for module, (name, sites, text) in FILES.items():
        found[f"{module}.py"] = site(api, name, sites, text)
    return {f"python/tiffin_client/{name}": text for name, text in found.items()}


def name_of(name: str) -> str:
    own = snake(name)
    return f"{own}_" if keyword.iskeyword(own) else own


def type_of(type_: Type) -> str:
    match type_:
        case Simple(name=name):
            return SIMPLE[name]
        case Named(name=name):
            return name
        case List(item=item):
            return f"list[{type_of(item)}]"
        case Map(item=item):
            return f"dict[str, {type_of(item)}]"
        case Nullable(type=inner):
            return f"{type_of(inner)} | None"
        case Word(word=word):
            return f'Literal["{word}"]'
    raise TypeError(type_)


# --- documents


def documents(api: API) -> str:
    lines = [
        HEAD.format("The documents of the API."), "from __future__ import annotations", "",
        "from dataclasses import dataclass, field", "from typing import Any, Literal, TypeAlias"]
    lines += ["", *listed("__all__ = [", [f'"{own.name}"' for own in api.types], "]", "", ",")]
    for own in api.types:
        if isinstance(own, Words):
            lines += ["", "", *comment(sentence(own.text), "", "# ")] if own.text else [""]
            lines += listed(f"{own.name}: TypeAlias = Literal[", [f'"{word}"' for word in own.words], "]", "", ",")
    for own in api.types:
        if isinstance(own, Object):
            lines += ["", "", "@dataclass(frozen=True, slots=True, kw_only=True)", f"class {own.name}:"]
            lines += [*docstring(sentence(own.text), "    "), ""] if own.text else []
            lines += [line for member in own.members for line in member_lines(member)]
    for own in in_order([own for own in api.types if isinstance(own, (OneOf, Alias))]):
        lines += [""]
        if own.text:
            lines += comment(sentence(own.text), "", "# ")
        if isinstance(own, OneOf):
            # What this client does not know yet comes as it is.
            choices = [type_of(each) for each in own.types]
            choices += [] if "dict[str, Any]" in choices else ["dict[str, Any]"]
            one = f"{own.name}: TypeAlias = {' | '.join(choices)}"
            wrapped = [f"    {'| ' if place else ''}{choice}" for place, choice in enumerate(choices)]
            lines += [one] if len(one) <= 120 else [f"{own.name}: TypeAlias = (", *wrapped, ")"]
        else:
            lines += [f"{own.name}: TypeAlias = {type_of(own.type)}"]
    return "\n".join(lines) + "\n"


def in_order(types: list) -> list:
    """Each after those that it is made of."""
    names, done, found = {own.name: own for own in types}, set(), []

    def visit(own):
        if own.name in done:
            return
        done.add(own.name)
        for each in parts(own):
            for name in named_in(each):
                if name in names:
                    visit(names[name])
        found.append(own)

    for own in types:
        visit(own)
    return found


def member_lines(member) -> list[str]:
    lines = comment(sentence(member.text), "    ", "# ") if member.text else []
    own, type_ = name_of(member.name), type_of(member.type)
    if not member.is_required and not isinstance(member.type, Nullable) and member.type != ANY:
        type_ += " | None"
    renamed = own != member.name
    if member.is_required:
        default = f' = field(metadata={{"json": "{member.name}"}})' if renamed else ""
    else:
        default = f' = field(default=None, metadata={{"json": "{member.name}"}})' if renamed else " = None"
    return [*lines, f"    {own}: {type_}{default}"]


def docstring(text: str, indent: str) -> list[str]:
    if len(indent) + len(text) + 6 <= 120 and "\n" not in text:
        return [f'{indent}"""{text}"""']
    first, *others = comment(text, indent, "", 117)
    return [f'{indent}"""{first.removeprefix(indent)}', *others, f'{indent}"""']


# --- sites


def site(api: API, name: str, sites: list[str], text: str) -> str:
    body = []
    for title, operations in api.groups(sites):
        body += ["", f"    # --- {title}"]
        for operation in operations:
            body += ["", *method(operation)]
    topics = [topic for topic in api.topics if topic.sites == sites]
    if topics:
        body += ["", "    # --- Documents that stay up to date"]
        for topic in topics:
            body += ["", *follow(topic)]
    code = "\n".join([STARTS[name].rstrip("\n"), *body]) + "\n"
    imports = [each for each in ("Iterator", "Mapping") if f"{each}[" in code]
    imports = [f"from collections.abc import {', '.join(imports)}"] if imports else []
    wanted = [each for each in ("Any", "Literal", "TypeVar") if f"{each}" in code.replace("AnyOf", "")]
    imports += [f"from typing import {', '.join(wanted)}"] if wanted else []
    core = [each for each in ("Connection", "Login", "Visitor", "filters", "segment") if each in code]
    if "_filters(" in code:
        core = ["filters as _filters" if each == "filters" else each for each in core]
    elif "filters" in core:
        core.remove("filters")
    used = [own.name for own in api.types if mentions(code, own.name)]
    local = [f"from .connection import {', '.join(core)}"]
    local += listed("from .documents import (", used, ")", "", ",") if len(", ".join(used)) > 95 else (
        [f"from .documents import {', '.join(used)}"] if used else [])
    local += ["from .site import Site"] if name != "Site" else []
    local += ["from .stream import Update, follow, question"] if "question(" in code else (
        ["from .stream import Update, follow"] if "Update[" in code else [])
    gap = [""] if code.startswith("class") else []
    return "\n".join([HEAD.format(text), *imports, "", *local, "", *gap, code])


def mentions(code: str, name: str) -> bool:
    return re.search(rf"(?<![\w\"]){name}\b", code) is not None


def method(operation: Operation) -> list[str]:
    required, optional, path = [], [], operation.path
    for argument in operation.arguments:
        own = name_of(argument.name)
        if argument.place == "filters":
            required.append("filters: Mapping[str, Any] | None = None")
        elif argument.name == "document" and operation.body == "document":
            required.append(f"document: {document_type(argument.type)}")
        elif argument.is_required:
            required.append(f"{own}: {type_of(argument.type)}")
        else:
            type_ = type_of(argument.type)
            optional.append(f"{own}: {type_} = None" if type_.endswith("None") else f"{own}: {type_} | None = None")
        if argument.place == "path":
            path = path.replace(f"{{{argument.name}}}", f"{{segment({own})}}")
    if operation.body == "picture":
        required += ["picture: bytes", "content_type: str"]
    if operation.is_write:
        optional += ["version: int | None = None", "key: str | None = None"]
    optional += ["deadline: float | None = None"]
    answer = type_of(operation.answer) if operation.answer is not None else "None"
    parts = ["self", *required, "*", *optional]
    head = listed(f"def {snake(operation.name)}(", parts, f") -> {answer}:", "    ", ",")
    lines = [*head, *docstring(operation.says, "        ")]
    return lines + call(operation, path, answer)


def document_type(type_: Type) -> str:
    own = type_of(type_)
    return "Mapping[str, Any]" if own in ("Any", "dict[str, Any]") else f"{own} | Mapping[str, Any]"


def call(operation: Operation, path: str, answer: str) -> list[str]:
    literal = f'f"{path}"' if "{" in path else f'"{path}"'
    parts = [f'"{operation.method}"', literal]
    if operation.answer is not None and answer != "Any":
        parts.append(answer)
    if operation.takes:
        parts.append(f'takes="{operation.takes}"')
    query = [f'("{each.name}", {name_of(each.name)})' for each in operation.placed("query")]
    if operation.is_write:
        query.append('("version", version)')
    if operation.placed("filters"):
        named = ", ".join(f'"{each.name}": {name_of(each.name)}' for each in operation.placed("query"))
        parts.append(f"query=_filters(filters) + _filters({{{named}}})")
    elif query:
        parts.append(f"query=[{', '.join(query)}]")
    if operation.body == "fields":
        fields = ", ".join(f'"{each.name}": {name_of(each.name)}' for each in operation.placed("body"))
        parts.append(f"body={{{fields}}}")
    elif operation.body == "document":
        parts.append("body=document")
    elif operation.body == "picture":
        parts.append("picture=(content_type, picture)")
    if operation.is_write:
        parts += ["has_key=True", "key=key"]
    parts.append("deadline=deadline")
    lines = listed("return self.connection.call(", parts, ")", "        ")
    if len(lines) > 1:
        lines = [*lines[:-2], lines[-2] + ")"]
    return lines


def follow(topic: Topic) -> list[str]:
    kind = type_of(topic.type)
    arguments = ["filters: Mapping[str, Any]" if each == "filters" else f"{each}: str" for each in topic.arguments]
    parts = ["self", *arguments, "*", "patience: float | None = None"]
    head = listed(f"def {snake(topic.name)}(", parts, f") -> Iterator[Update[{kind}]]:", "    ", ",")
    if "{filters}" in topic.topic:
        channel = f'question("{topic.topic.partition("?")[0]}", filters)'
    else:
        channel = f'f"{topic.topic}"' if "{" in topic.topic else f'"{topic.topic}"'
    return [
        *head, *docstring(f"{topic.text} Each state of it from now on, as `stream.follow` says.", "        "),
        f"        return follow(self.connection, {channel}, {kind}, patience)"]
