"""What docs/openapi.json says, in the words that every language needs: operations, and the types of their documents."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# --- types


@dataclass(frozen=True)
class Simple:
    """`string`, `integer`, `number`, `boolean`, `any`, or `null`."""

    name: str


@dataclass(frozen=True)
class Named:
    """One of the declared types."""

    name: str


@dataclass(frozen=True)
class List:
    item: "Type"


@dataclass(frozen=True)
class Map:
    item: "Type"


@dataclass(frozen=True)
class Nullable:
    type: "Type"


@dataclass(frozen=True)
class Word:
    """One text alone, which tells apart the objects that may stand in a place."""

    word: str


Type = Simple | Named | List | Map | Nullable | Word
ANY, STRING, INTEGER = Simple("any"), Simple("string"), Simple("integer")


@dataclass
class Member:
    name: str
    type: Type
    is_required: bool
    text: str


@dataclass
class Object:
    name: str
    members: list[Member]
    text: str
    # Whether it is only sent: then null is the same as absent.
    is_input: bool = False


@dataclass
class Words:
    """One of some texts."""

    name: str
    words: list[str]
    text: str


@dataclass
class OneOf:
    """One of several objects. `by` is the member that tells them apart, if one does."""

    name: str
    types: list[Type]
    by: str | None
    text: str


@dataclass
class Alias:
    """Another name of a type."""

    name: str
    type: Type
    text: str


def named_in(type_: Type | None) -> list[str]:
    match type_:
        case Named(name=name):
            return [name]
        case List(item=inner) | Map(item=inner) | Nullable(type=inner):
            return named_in(inner)
    return []


def parts(own: Object | Words | OneOf | Alias) -> list[Type]:
    """What a declared type is made of."""
    match own:
        case Object(members=members):
            return [member.type for member in members]
        case OneOf(types=types):
            return types
        case Alias(type=type_):
            return [type_]
    return []


# --- operations


@dataclass
class Argument:
    name: str
    type: Type
    is_required: bool
    # `path`, `query`, `filters` or `body`.
    place: str


@dataclass
class Operation:
    name: str
    # That of the line protocol which it runs; None where it runs none.
    command: str | None
    method: str
    path: str
    text: str
    sites: list[str]
    arguments: list[Argument]
    # `fields`: the arguments in its place are its members. `document`: the only one is all of it. `picture`: bytes.
    body: str | None
    # Whether it takes a key and a version.
    is_write: bool
    answer: Type | None
    # The only member of the answer, which is returned in its place.
    takes: str | None

    @property
    def says(self) -> str:
        """What it does, and where the reference says more."""
        return f"{self.text} ({self.command})" if self.command else self.text

    @property
    def group(self) -> str:
        return next(title for pattern, title in GROUPS if re.match(pattern, self.path))

    def placed(self, place: str) -> list[Argument]:
        return [argument for argument in self.arguments if argument.place == place]


# What an operation is about, by its path; the order of the groups is that of their methods.
GROUPS = [
    (r"/v1/(browse|surprise)$|/v1/outlets$", "Searching"),
    (r"/v1/cart\b", "The cart"),
    (r"/v1/orders\b", "Orders"),
    (r"/v1/outlets/\{outlet\}/(menu|items|sections|groups|options|feed|pictures)\b", "Menus"),
    (r"/v1/outlets/\{outlet\}/(stock|promotions)\b", "Stock and promotions"),
    (r"/v1/(own-)?outlets\b", "Outlets"),
    (r"/v1/(users|me|customers)\b", "People"),
    (r"/v1/(log|proof|carts)\b", "The log"),
    (r"/", "The server"),
]

# Each client has these by hand: streams are followed, a picture has an address, and a program has a token.
BY_HAND = {"openStream", "getPicture", "logIn", "logOut"}

# Documents that a stream keeps up to date: the method, the topic, its arguments, the command that answers the same
# document or the name of its type, the sites, and what is said of it.
TOPICS = [
    ("followCart", "cart", [], "CART.GET", ["store"], "The customer's cart; gone until something is in it."),
    ("followCartCount", "cart_count", [], "CART.COUNT", ["store"], "How many items the customer's cart holds."),
    ("followOrder", "order:{order}", ["order"], "ORDER.GET", ["store", "console"], "An order."),
    ("followHome", "home:{outlet}", ["outlet"], "OUTLET.HOME", ["store", "console"], "An outlet's home."),
    ("followKitchen", "kitchen:{outlet}", ["outlet"], "KITCHEN", ["console"], "The orders that a kitchen has to cook."),
    ("followItems", "browse?{filters}", ["filters"], "SavedItems", ["store", "console"],
     "The first items that match every filter."),
    ("followOutlets", "outlets?{filters}", ["filters"], "SavedOutlets", ["store", "console"],
     "The first outlets that match every filter."),
]


@dataclass
class Topic:
    name: str
    topic: str
    arguments: list[str]
    type: Type
    sites: list[str]
    text: str


@dataclass
class API:
    types: list[Object | Words | OneOf | Alias] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)

    def declared(self, name: str):
        return next(type_ for type_ in self.types if type_.name == name)

    def groups(self, sites: list[str]) -> list[tuple[str, list[Operation]]]:
        """The operations that exactly these sites have, by what they are about."""
        own = [operation for operation in self.operations if operation.sites == sites]
        found = [(title, [operation for operation in own if operation.group == title]) for _, title in GROUPS]
        return [(title, operations) for title, operations in found if operations]


def words(name: str) -> list[str]:
    """`promisedFor`, `Idempotency-Key` and `MENU.ITEM.PUT` as words in small letters."""
    parts = re.split(r"[^A-Za-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name))
    return [part.lower() for part in parts if part]


def capital(name: str) -> str:
    return "".join(word.capitalize() for word in words(name))


def camel(name: str) -> str:
    first, *others = words(name)
    return first + "".join(word.capitalize() for word in others)


def snake(name: str) -> str:
    return "_".join(words(name))


class Reader:
    """Reads the document. What has no name of its own there is called by where it stands, and what stands in several
    places by the shortest of these names: so it is read twice."""

    def __init__(self, document: dict, places: dict[str, set[str]] | None = None):
        self.document = document
        self.api = API()
        # The names that each schema could have, by its member and itself.
        self.places: dict[str, set[str]] = {}
        self.names: dict[str, str] = {}
        taken = set(document["components"]["schemas"])
        for key, names in sorted((places or {}).items()):
            # What is answered gives the name.
            in_order = sorted(names, key=lambda name: ("Input" in name, len(name), name))
            free = (name for name in in_order if name not in taken)
            self.names[key] = next(free)
            taken.add(self.names[key])

    def read(self) -> API:
        for name, schema in self.document["components"]["schemas"].items():
            if name != "Problem":
                self.declare(name, schema)
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                if operation["operationId"] in BY_HAND:
                    continue
                self.api.operations.append(self.operation(path, method.upper(), operation))
        for name, topic, arguments, source, sites, text in TOPICS:
            self.api.topics.append(Topic(name, topic, arguments, self.topic_type(source), sites, text))
        operations, topics = self.api.operations, self.api.topics
        sent = self.used([argument.type for operation in operations for argument in operation.arguments])
        answered = self.used([each.answer for each in operations] + [topic.type for topic in topics])
        self.api.types = sorted(
            (own for own in self.api.types if own.name in sent | answered), key=lambda own: own.name.lower())
        for own in self.api.types:
            if isinstance(own, Object) and own.name not in answered:
                become_input(own)
        return self.api

    def used(self, wanted: list[Type | None]) -> set[str]:
        """The names of the types that some types need."""
        by_name, found = {own.name: own for own in self.api.types}, set()
        while wanted:
            for name in named_in(wanted.pop()):
                if name not in found:
                    found.add(name)
                    wanted += parts(by_name[name])
        return found

    # --- types

    def declare(self, name: str, schema: dict) -> Type:
        """Declares a schema under a name."""
        text = schema.get("description", "")
        match self.kind(schema):
            case "object" if schema.get("properties"):
                own = Object(name, [], text)
                self.api.types.append(own)
                required = schema.get("required", [])
                own.members = [
                    Member(each, self.type(schema["properties"][each], name, each), each in required,
                           schema["properties"][each].get("description", ""))
                    for each in in_order(schema)]
            case "words":
                self.api.types.append(Words(name, [word for word in schema["enum"] if word is not None], text))
            case "oneOf":
                several = [each for each in schema["oneOf"] if each.get("type") != "null"]
                types = [self.type(each, name, f"choice{place}") for place, each in enumerate(several, 1)]
                by = schema.get("discriminator", {}).get("propertyName")
                self.api.types.append(OneOf(name, types, by, text))
            case _:
                self.api.types.append(Alias(name, self.type(schema, name, "value"), text))
        return Named(name)

    @staticmethod
    def kind(schema: dict) -> str:
        if "oneOf" in schema or "anyOf" in schema:
            return "oneOf"
        if "enum" in schema:
            return "words"
        type_ = schema.get("type", "any")
        if isinstance(type_, list):
            type_ = next((each for each in type_ if each != "null"), "null")
        return type_

    def type(self, schema: dict, parent: str, member: str) -> Type:
        """The type of a schema that stands in another, where it is called `member`."""
        if "$ref" in schema:
            return Named(schema["$ref"].rpartition("/")[2])
        if "const" in schema:
            return Word(schema["const"])
        type_, several = schema.get("type"), schema.get("oneOf", [])
        is_nullable = type_ != "null" and "null" in (type_ or []) or {"type": "null"} in several
        found = self._type(schema, parent, member)
        if isinstance(found, Nullable):
            return found
        return Nullable(found) if is_nullable and found != ANY else found

    def _type(self, schema, parent, member) -> Type:
        match self.kind(schema):
            case "words":
                found = [word for word in schema["enum"] if word is not None]
                return Word(found[0]) if len(found) == 1 else self.placed({"enum": found}, parent, member)
            case "oneOf":
                several = [each for each in schema["oneOf"] if each.get("type") != "null"]
                if len(several) == 1:
                    return self.type(several[0], parent, member)
                return self.placed({**schema, "oneOf": several}, parent, member)
            case "array":
                return List(self.type(schema.get("items", {}), parent, singular(member)))
            case "object" if schema.get("properties"):
                return self.placed(schema, parent, member)
            case "object":
                others = schema.get("additionalProperties", {})
                has_type = isinstance(others, dict) and others
                return Map(self.type(others, parent, singular(member)) if has_type else ANY)
            case "string" | "integer" | "number" | "boolean" | "null" as simple:
                return Simple(simple)
        return ANY

    def placed(self, schema: dict, parent: str, member: str) -> Type:
        """The type of a schema that has no name."""
        own = parent + capital(member)
        same = {name: value for name, value in schema.items() if name != "description"}
        key = member + json.dumps(same, sort_keys=True)
        self.places.setdefault(key, set()).add(own)
        name = self.names.get(key, own)
        if all(each.name != name for each in self.api.types):
            self.declare(name, schema)
        return Named(name)

    # --- operations

    def operation(self, path: str, method: str, operation: dict) -> Operation:
        name, arguments, is_write = operation["operationId"], [], False
        parameters = operation["parameters"]
        answer, takes = self.answer(capital(name), operation["responses"])
        for parameter in parameters:
            if parameter["in"] == "header":
                is_write = True
            elif parameter["name"] == "filters":
                arguments.append(Argument("filters", Map(ANY), parameter.get("required", False), "filters"))
            elif not (parameter["name"] == "since" and self.leads_on(answer)):
                own = self.type(parameter["schema"], capital(name), parameter["name"])
                arguments.append(Argument(parameter["name"], own, parameter["required"], parameter["in"]))
        if is_write:
            arguments = [argument for argument in arguments if (argument.name, argument.place) != ("version", "query")]
        body = None
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            schema = content["schema"]
            if kind.startswith("image/"):
                body = "picture"
            elif "properties" in schema:
                body = "fields"
                required = schema.get("required", [])
                for each in in_order(schema):
                    own = self.type(schema["properties"][each], capital(name), each)
                    # Null is the same as absent.
                    own = own.type if isinstance(own, Nullable) and each not in required else own
                    arguments.append(Argument(each, own, each in required, "body"))
            else:
                body = "document"
                own = self.type(schema, capital(name), "document")
                arguments.append(Argument("document", own, operation["requestBody"].get("required", False), "body"))
        leads_on = self.leads_on(answer)
        answer = self.whole(answer)
        if "204" in operation["responses"] and any(argument.name == "since" for argument in arguments):
            answer = Nullable(answer)
        text = operation["summary"]
        if leads_on:
            text = text.replace(", or what has changed in it", "")
        if not isinstance(answer, Nullable):
            # What is not there is an error.
            text = re.sub(r", or null(?=[.;])", "", text)
        return Operation(
            name, operation.get("x-command"), method, path, text, operation["tags"], arguments, body,
            is_write, answer, takes)

    def answer(self, parent: str, responses: dict) -> tuple[Type | None, str | None]:
        """What an operation answers. Of an object with one simple member it is that member."""
        for status in ("200", "201", "202"):
            for content in responses.get(status, {}).get("content", {}).values():
                schema = content["schema"]
                members = self.resolved(schema).get("properties", {})
                if len(members) == 1:
                    (member, own), = members.items()
                    if self.kind(own) in ("string", "integer", "boolean") and "$ref" not in own:
                        return self.type(own, parent, member), member
                return self.type(schema, parent, "answer"), None
        return None, None

    def resolved(self, schema: dict) -> dict:
        if "$ref" not in schema:
            return schema
        return self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]

    def choices(self, answer: Type | None) -> list[Type]:
        """What an answer may be, if it may be several things."""
        match answer:
            case Nullable(type=inner):
                return self.choices(inner)
            case Named(name=name) if (own := next((each for each in self.api.types if each.name == name), None)):
                return own.types if isinstance(own, OneOf) else []
        return []

    def leads_on(self, answer: Type | None) -> bool:
        """Whether an answer may be a patch, for which a stream is the better way."""
        return answer == ANY or any(self.is_patch(choice) for choice in self.choices(answer))

    def is_patch(self, type_: Type) -> bool:
        schemas = self.document["components"]["schemas"]
        return isinstance(type_, Named) and "patch" in schemas.get(type_.name, {}).get("properties", {})

    def whole(self, answer: Type | None) -> Type | None:
        """An answer without patches, which only a `since` leads to."""
        choices = self.choices(answer)
        wholes = [choice for choice in choices if not self.is_patch(choice)]
        if len(wholes) == len(choices) or len(wholes) != 1:
            return answer
        self.api.types = [each for each in self.api.types if not (isinstance(each, OneOf) and each.types == choices)]
        return Nullable(wholes[0]) if isinstance(answer, Nullable) else wholes[0]

    def topic_type(self, source: str) -> Type:
        if "." in source or source.isupper():
            found = next(operation for operation in self.api.operations if operation.command == source)
            own = found.answer or ANY
            return own.type if isinstance(own, Nullable) else own
        return Named(source) if source in self.document["components"]["schemas"] else ANY


def become_input(own: Object) -> None:
    """What is only sent has no members that nobody reads."""
    own.is_input = True
    own.members = [member for member in own.members if member.text != "not read"]
    for member in own.members:
        if not member.is_required and isinstance(member.type, Nullable):
            member.type = member.type.type


def in_order(schema: dict) -> list[str]:
    """The members of an object: those that are required in their own order, and then the others, which are sorted."""
    required = [each for each in schema.get("required", []) if each in schema["properties"]]
    return required + [each for each in schema["properties"] if each not in required]


def singular(name: str) -> str:
    for ending, own in (("ies", "y"), ("sses", "ss"), ("ses", "se"), ("s", "")):
        if name.endswith(ending) and not name.endswith("ss"):
            return name.removesuffix(ending) + own
    return name


def load(path: Path) -> API:
    document = json.loads(path.read_text())
    first = Reader(document)
    first.read()
    return Reader(document, first.places).read()
