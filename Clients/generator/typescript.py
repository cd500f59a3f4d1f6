"""The client in TypeScript: `documents.ts` and a module for each site."""

import re

from api import (
    API, Alias, List, Map, Named, Nullable, Object, OneOf, Operation, Simple, Topic, Type, Word, Words, camel)
from text import WIDTH, comment, listed, sentence

HEAD = "// {} Written by Scripts/clients from docs/openapi.json.\n"
SIMPLE = {
    "string": "string", "integer": "number", "number": "number", "boolean": "boolean", "any": "unknown", "null": "null"}
FILES = {
    "site": ("Site", ["store", "console"], "What both sites have."),
    "store": ("Store", ["store"], "The store, for customers."),
    "console": ("Console", ["console"], "The console, for merchants, auditors and admins."),
}
STARTS = {
    "Site": '''/** What the store and the console have in common. */
export abstract class Site {
    protected constructor(protected readonly connection: Connection) {}
''',
    "Store": '''/** The store: one customer, with a cart and orders of their own. */
export class Store extends Site {
    private readonly visitor: Visitor;

    /**
     * `session` is the secret of a customer who was here before, from the property of that name. `deadline` is how
     * many milliseconds a call may take with all its attempts, unless the call has its own.
     */
    constructor(url = "http://127.0.0.1:7380", options: { session?: string; deadline?: number } = {}) {
        const visitor = new Visitor(options.session);
        super(new Connection(url, visitor, options.deadline ?? 30_000));
        this.visitor = visitor;
    }

    /** The secret that makes this customer the same one the next time. It changes with every order. */
    get session(): string {
        return this.visitor.session;
    }
''',
    "Console": '''\
/** The console: a user, who has a name and a token; nobody needs them as long as there are no users. */
export class Console extends Site {
    /** `deadline` is how many milliseconds a call may take with all its attempts, unless the call has its own. */
    constructor(url = "http://127.0.0.1:7381", options: { user?: string; token?: string; deadline?: number } = {}) {
        super(new Connection(url, new Login(options.user, options.token), options.deadline ?? 30_000));
    }
''',
}
CORE = {
    "connection": ["Connection", "Login", "segment", "Visitor", "Call", "Filters", "Write"],
    "stream": ["follow", "question", "Following", "Update"],
}
TYPES_ALONE = {"Call", "Filters", "Write", "Following", "Update"}


def files(api: API) -> dict[str, str]:
    found = {"documents.ts": documents(api)}
    for module, (name, sites, text) in FILES.items():
        found[f"{module}.ts"] = site(api, name, sites, text)
    return {f"typescript/src/{name}": text for name, text in found.items()}


def type_of(type_: Type) -> str:
    match type_:
        case Simple(name=name):
            return SIMPLE[name]
        case Named(name=name):
            return name
        case List(item=Nullable(type=item)):
            return f"({type_of(item)} | null)[]"
        case List(item=item):
            return f"{type_of(item)}[]"
        case Map(item=item):
            return f"Record<string, {type_of(item)}>"
        case Nullable(type=inner):
            return f"{type_of(inner)} | null"
        case Word(word=word):
            return f'"{word}"'
    raise TypeError(type_)


def note(text: str, indent: str = "") -> list[str]:
    """A documentation comment; none for no text."""
    if not text:
        return []
    one = f"{indent}/** {text} */"
    return [one] if len(one) <= WIDTH else [f"{indent}/**", *comment(text, indent, " * "), f"{indent} */"]


# --- documents


def documents(api: API) -> str:
    lines = [HEAD.format("The documents of the API.").rstrip("\n")]
    for own in api.types:
        lines += ["", *note(sentence(own.text))]
        match own:
            case Object(members=members):
                lines += [f"export interface {own.name} {{", *(line for each in members for line in member(each)), "}"]
            case Words(words=words):
                lines += union(own.name, [f'"{word}"' for word in words])
            case OneOf(types=types):
                lines += union(own.name, [type_of(each) for each in types])
            case Alias(type=type_):
                lines += [f"export type {own.name} = {type_of(type_)};"]
    # A file without exports would be no module.
    return "\n".join([*lines, *([] if api.types else ["export {};"])]) + "\n"


def union(name: str, parts: list[str]) -> list[str]:
    one = f"export type {name} = {' | '.join(parts)};"
    if len(one) <= WIDTH:
        return [one]
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) + 8 > WIDTH:
            lines.append("")
        lines[-1] += f" | {part}"
    return [f"export type {name} =", *(f"   {line}" for line in lines[:-1]), f"   {lines[-1]};"]


def member(own) -> list[str]:
    name = own.name if re.fullmatch(r"[A-Za-z_]\w*", own.name) else f'"{own.name}"'
    return [*note(sentence(own.text), "    "), f"    {name}{'' if own.is_required else '?'}: {type_of(own.type)};"]


# --- sites


def site(api: API, name: str, sites: list[str], text: str) -> str:
    body = []
    for title, operations in api.groups(sites):
        body += ["", f"    // {title}"]
        for operation in operations:
            body += ["", *method(operation)]
    topics = [topic for topic in api.topics if topic.sites == sites]
    if topics:
        body += ["", "    // Documents that stay up to date"]
        for topic in topics:
            body += ["", *follow(topic)]
    code = "\n".join([STARTS[name].rstrip("\n"), *body, "}"]) + "\n"
    imports = []
    for module, names in CORE.items():
        used = [each for each in names if mentions(code, each)]
        if used:
            parts = [f"type {each}" if each in TYPES_ALONE else each for each in used]
            imports.append(f'import {{ {", ".join(parts)} }} from "./{module}.js";')
    used = [own.name for own in api.types if mentions(code, own.name)]
    if used:
        imports += listed("import type {", [f" {used[0]}", *used[1:]], ' } from "./documents.js";', "") if len(
            ", ".join(used)) < 80 else listed("import type {", used, '} from "./documents.js";', "", ",")
    if name != "Site":
        imports.append('import { Site } from "./site.js";')
    return "\n".join([HEAD.format(text), *imports, "", code])


def mentions(code: str, name: str) -> bool:
    without_comments = re.sub(r"/\*\*.*?\*/|// [^\n]*", "", code, flags=re.S)
    return re.search(rf"(?<![\w\"./]){name}\b(?!\")", without_comments) is not None


def method(operation: Operation) -> list[str]:
    parts, path = [], operation.path
    for argument in operation.placed("path"):
        parts.append(f"{camel(argument.name)}: {type_of(argument.type)}")
        path = path.replace(f"{{{argument.name}}}", f"${{segment({camel(argument.name)})}}")
    if operation.body == "document":
        own = type_of(operation.placed("body")[0].type)
        parts.append(f"document: {'object' if own in ('unknown', 'Record<string, unknown>') else own}")
    if operation.body == "picture":
        parts.append("picture: Blob")
    if operation.placed("filters"):
        parts.append("filters: Filters = {}")
    fields = operation.placed("query") + (operation.placed("body") if operation.body == "fields" else [])
    if fields:
        default = "" if any(each.is_required for each in fields) else " = {}"
        parts.append(f"fields: {members(fields)}{default}")
    parts.append("call: Write = {}" if operation.is_write else "call: Call = {}")
    answer = type_of(operation.answer) if operation.answer is not None else "null"
    head = listed(f"{camel(operation.name)}(", parts, f"): Promise<{answer}> {{", "    ", ",")
    head = [line.replace("\1", "\n            ").replace("\2", "\n        ") for line in head]
    requested = []
    if operation.placed("filters"):
        requested.append("query: { ...filters, ...fields }")
    elif operation.placed("query"):
        requested.append("query: fields" if len(fields) == len(operation.placed("query")) else query(operation))
    if operation.body == "fields":
        requested.append("body: fields")
    elif operation.body == "document":
        requested.append("body: document")
    elif operation.body == "picture":
        requested.append("picture")
    if operation.takes:
        requested.append(f'takes: "{operation.takes}"')
    requested.append("write: call" if operation.is_write else "call")
    literal = f"`{path}`" if "$" in path else f'"{path}"'
    one = f'        return this.connection.call("{operation.method}", {literal}, {{ {", ".join(requested)} }});'
    lines = [one] if len(one) <= WIDTH else [
        "        return this.connection.call(",
        f'            "{operation.method}", {literal}, {{ {", ".join(requested)} }},', "        );"]
    lines = lines if all(len(line) <= WIDTH for line in lines) else [
        lines[0], f'            "{operation.method}", {literal},', f'            {{ {", ".join(requested)} }},',
        lines[-1]]
    return [*note(operation.says, "    "), *head, *lines, "    }"]


def members(fields) -> str:
    """The type of an argument with members, on lines of its own if it is long."""
    each = [f"{own.name}{'' if own.is_required else '?'}: {type_of(own.type)}" for own in fields]
    one = f"{{ {'; '.join(each)} }}"
    if len(one) <= 95:
        return one
    lines = [""]
    for own in each:
        if lines[-1] and len(lines[-1]) + len(own) > WIDTH - 15:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{own};"
    # Marks for the lines, which are broken once everything else is.
    return "{\1" + "\1".join(lines) + "\2}"


def query(operation: Operation) -> str:
    return "query: { " + ", ".join(f"{each.name}: fields.{each.name}" for each in operation.placed("query")) + " }"


def follow(topic: Topic) -> list[str]:
    kind = type_of(topic.type)
    parts = ["filters: Filters" if each == "filters" else f"{each}: string" for each in topic.arguments]
    parts.append("following: Following = {}")
    if "{filters}" in topic.topic:
        channel = f'question("{topic.topic.partition("?")[0]}", filters)'
    else:
        channel = "`" + topic.topic.replace("{", "${") + "`" if "{" in topic.topic else f'"{topic.topic}"'
    return [
        *note(f"{topic.text} Each state of it from now on, as `Update` says.", "    "),
        f"    {topic.name}({', '.join(parts)}): AsyncGenerator<Update<{kind}>, void, undefined> {{",
        f"        return follow(this.connection, {channel}, following);", "    }"]
