"""The client in Swift: `Documents.swift` and a file for each site."""

import re

from api import (
    API, Alias, List, Map, Named, Nullable, Object, OneOf, Operation, Simple, Topic, Type, Word, Words, camel)
from text import WIDTH, comment, sentence

HEAD = "// {} Written by Scripts/clients from docs/openapi.json.\n"
SIMPLE = {
    "string": "String", "integer": "Int", "number": "Double", "boolean": "Bool", "any": "JSON", "null": "JSON"}
RESERVED = set(
    "as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough false "
    "fileprivate for func guard if import in init inout internal is let nil operator private protocol public repeat "
    "rethrows return self static struct subscript super switch throw throws true try typealias var where while".split())
FILES = {
    "Site": (["store", "console"], "What both sites have."),
    "Store": (["store"], "The store, for customers."),
    "Console": (["console"], "The console, for merchants, auditors and admins."),
}
STARTS = {
    "Site": '''/// What the store and the console have in common.
public protocol Site: Sendable {
    /// Who calls.
    var connection: Connection { get }
}
''',
    "Store": '''/// The store: one customer, with a cart and orders of their own.
public struct Store: Site {
    public let connection: Connection
    private let visitor: Visitor

    /// The store at an address.
    ///
    /// - Parameters:
    ///   - session: the secret of a customer who was here before, from the property of that name.
    ///   - deadline: how long a call may take with all its attempts, unless the call has its own.
    /// - Throws: a ``TiffinError`` if there can be no store.
    public init(
        _ url: String = "http://127.0.0.1:7380", session: String? = nil, deadline: Duration = .seconds(30)
    ) throws {
        visitor = Visitor(session: session)
        connection = try Connection(url, visitor, deadline: deadline)
    }

    /// The secret that makes this customer the same one the next time. It changes with every order.
    public var session: String { visitor.session }
}
''',
    "Console": '''/// The console: a user, who has a name and a token; nobody needs them as long as there are no users.
public struct Console: Site {
    public let connection: Connection

    /// The console at an address.
    ///
    /// - Parameter deadline: how long a call may take with all its attempts, unless the call has its own.
    /// - Throws: a ``TiffinError`` if there can be no console.
    public init(
        _ url: String = "http://127.0.0.1:7381", user: String? = nil, token: String? = nil,
        deadline: Duration = .seconds(30)
    ) throws {
        connection = try Connection(url, Login(user: user, token: token), deadline: deadline)
    }
}
''',
}


def files(api: API) -> dict[str, str]:
    found = {"Documents.swift": documents(api)}
    for name, (sites, text) in FILES.items():
        found[f"{name}.swift"] = site(api, name, sites, text)
    return {f"swift/Sources/TiffinClient/{name}": text for name, text in found.items()}


def name_of(name: str) -> str:
    own = camel(name) if not re.fullmatch(r"[a-z]\w*", name) else name
    return f"`{own}`" if own in RESERVED else own


def type_of(type_: Type) -> str:
    match type_:
        case Simple(name=name):
            return SIMPLE[name]
        case Named(name=name):
            return name
        case List(item=item):
            return f"[{type_of(item)}]"
        case Map(item=item):
            return f"[String: {type_of(item)}]"
        case Nullable(type=inner):
            return f"{type_of(inner)}?"
        case Word():
            return "String"
    raise TypeError(type_)


def note(text: str, indent: str = "") -> list[str]:
    return comment(text, indent, "/// ") if text else []


def wrapped(head: str, parts: list[str], tail: str, indent: str) -> list[str]:
    """A call or a declaration with its parts, on lines that are not too long."""
    one = f"{indent}{head}({', '.join(parts)}){tail}"
    if len(one) <= WIDTH:
        return [one]
    lines, own = [], indent + "    "
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 3 <= WIDTH:
            lines[-1] += f", {part}"
        else:
            lines = [*lines[:-1], lines[-1] + ",", own + part] if lines else [own + part]
    return [f"{indent}{head}(", *lines, f"{indent}){tail}"]


# --- documents


def documents(api: API) -> str:
    lines = [HEAD.format("The documents of the API.").rstrip("\n")]
    for own in api.types:
        lines += ["", *note(sentence(own.text))]
        match own:
            case Object():
                lines += structure(api, own)
            case Words(words=words):
                lines += [f"public struct {own.name}: Word {{", "    public let rawValue: String", "",
                          "    public init(rawValue: String) { self.rawValue = rawValue }", ""]
                lines += [f'    public static let {name_of(word)}: {own.name} = "{word}"' for word in words]
                lines += ["}"]
            case OneOf():
                lines += choice(api, own)
            case Alias(type=type_):
                lines += [f"public typealias {own.name} = {type_of(type_)}"]
    return "\n".join(lines) + "\n"


def structure(api: API, own: Object) -> list[str]:
    lines = [f"public struct {own.name}: Codable, Equatable, Sendable {{"]
    for member in own.members:
        optional = "" if member.is_required or isinstance(member.type, Nullable) else "?"
        lines += note(sentence(member.text), "    ")
        lines += [f"    public var {name_of(member.name)}: {type_of(member.type)}{optional}"]
    if any(name_of(member.name).strip("`") != member.name for member in own.members):
        lines += ["", "    private enum CodingKeys: String, CodingKey {"]
        for member in own.members:
            name = name_of(member.name)
            lines.append(f"        case {name}" + (f' = "{member.name}"' if name.strip("`") != member.name else ""))
        lines += ["    }"]
    if own.is_input:
        parts = [
            f"{name_of(member.name)}: {type_of(member.type)}{'' if member.is_required else '? = nil'}"
            for member in own.members]
        names = [name_of(member.name) for member in own.members]
        lines += ["", *wrapped("public init", parts, " {", "    ")]
        lines += [*(f"        self.{name.strip('`')} = {name}" for name in names), "    }"]
    return [*lines, "}"]


def cases(api: API, own: OneOf) -> list[tuple[str, str, str | None]]:
    """The name of each case, its type, and the word that tells it apart."""
    found = []
    for type_ in own.types:
        word = None
        if own.by and isinstance(type_, Named):
            member = next(each for each in api.declared(type_.name).members if each.name == own.by)
            word = member.type.word if isinstance(member.type, Word) else None
        names = {"String": "text", "Int": "integer", "Double": "number", "Bool": "boolean"}
        swift = type_of(type_)
        plain = swift.strip("[]?").replace("String: ", "")
        name = word or (names.get(swift) or (plain[0].lower() + plain[1:] + ("s" if swift.startswith("[") else "")))
        found.append((name_of(name), swift, word))
    return found


def choice(api: API, own: OneOf) -> list[str]:
    known = cases(api, own)
    lines = [f"public enum {own.name}: Codable, Equatable, Sendable {{"]
    lines += [f"    case {name}({swift})" for name, swift, _ in known]
    lines += ["    /// What this client does not know yet.", "    case other(JSON)", "",
              "    public init(from decoder: any Decoder) throws {"]
    if all(word for *_, word in known):
        lines += [f"        switch try decoder.word(of: \"{own.by}\") {{"]
        for name, swift, word in known:
            lines += [f'        case "{word}": self = .{name.strip("`")}(try {swift}(from: decoder))']
        lines += ["        default: self = .other(try JSON(from: decoder))", "        }"]
    else:
        lines += ["        let container = try decoder.singleValueContainer()"]
        for place, (name, swift, _) in enumerate(known):
            start = "        if" if not place else "        } else if"
            lines += [f"{start} let value = try? container.decode({swift}.self) {{",
                      f"            self = .{name.strip('`')}(value)"]
        lines += ["        } else {", "            self = .other(try container.decode(JSON.self))", "        }"]
    lines += ["    }", "", "    public func encode(to encoder: any Encoder) throws {",
              "        var container = encoder.singleValueContainer()", "        switch self {"]
    lines += [f"        case .{name.strip('`')}(let value): try container.encode(value)" for name, _, _ in known]
    return [*lines, "        case .other(let value): try container.encode(value)", "        }", "    }", "}"]


# --- sites


def site(api: API, name: str, sites: list[str], text: str) -> str:
    lines = []
    for title, operations in api.groups(sites):
        lines += ["", f"// MARK: {title}", "", f"extension {name} {{"]
        for place, operation in enumerate(operations):
            lines += ([""] if place else []) + method(operation)
        lines += ["}"]
    topics = [topic for topic in api.topics if topic.sites == sites]
    if topics:
        lines += ["", "// MARK: Documents that stay up to date", "", f"extension {name} {{"]
        for place, topic in enumerate(topics):
            lines += ([""] if place else []) + follow(topic)
        lines += ["}"]
    code = "\n".join([STARTS[name].rstrip("\n"), *lines]) + "\n"
    imports = ["public import Foundation", ""] if ": Data" in code else []
    return "\n".join([HEAD.format(text), *imports, code])


def method(operation: Operation) -> list[str]:
    parts, path = [], operation.path
    paths = operation.placed("path")
    for argument in paths:
        label = "_ " if len(paths) == 1 else ""
        parts.append(f"{label}{name_of(argument.name)}: {type_of(argument.type)}")
        path = path.replace(f"{{{argument.name}}}", f"\\(segment({name_of(argument.name)}))")
    if operation.body == "document":
        own = type_of(operation.placed("body")[0].type)
        parts.append(f"document: {'some Encodable' if own in ('JSON', '[String: JSON]') else own}")
    if operation.body == "picture":
        parts += ["picture: Data", "type: String"]
    if operation.placed("filters"):
        parts.append("_ filters: [String: Filter] = [:]")
    fields = operation.placed("query") + (operation.placed("body") if operation.body == "fields" else [])
    for argument in sorted(fields, key=lambda each: not each.is_required):
        own = type_of(argument.type)
        parts.append(f"{name_of(argument.name)}: {own if argument.is_required else own.rstrip('?') + '? = nil'}")
    if operation.is_write:
        parts += ["version: Int? = nil", "key: String? = nil"]
    parts.append("deadline: Duration? = nil")
    answer = type_of(operation.answer) if operation.answer is not None else "JSON"
    head = wrapped(f"public func {name_of(operation.name)}", parts, f" async throws -> {answer} {{", "    ")
    called = [f'"{operation.method}"', f'"{path}"']
    if operation.takes:
        called.append(f'takes: "{operation.takes}"')
    query = [f'("{each.name}", {name_of(each.name)})' for each in operation.placed("query")]
    query += ['("version", version)'] if operation.is_write else []
    before = []
    if query:
        called.append("query: " + literal("query", "Query", query, before))
    if operation.placed("filters"):
        called.append("filters: filters")
    if operation.body == "fields":
        members = [f'"{each.name}": {name_of(each.name)}' for each in operation.placed("body")]
        called.append("body: " + literal("body", "Members", members, before))
    elif operation.body == "document":
        called.append("body: document")
    elif operation.body == "picture":
        called.append("picture: (type, picture)")
    if operation.is_write:
        called += ["hasKey: true", "key: key"]
    called.append("deadline: deadline")
    start = "return try await connection.call" if before else "try await connection.call"
    lines = [*before, *wrapped(start, called, "", "        ")]
    if lines[-1].strip() == ")":
        lines = [*lines[:-2], lines[-2] + ")"]
    # Whoever changes something seldom needs the count or the version that it leads to.
    unused = ["    @discardableResult"] if operation.takes in ("count", "version") and operation.is_write else []
    return [*note(operation.says, "    "), *unused, *head, *lines, "    }"]


def literal(name: str, type_: str, items: list[str], before: list[str]) -> str:
    """A list of some items, or the name of a variable with it, which is declared before if it is long."""
    one = f"[{', '.join(items)}]"
    if len(one) <= 90:
        return f"{one} as Members" if type_ == "Members" else one
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > WIDTH - 15:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    before += [f"        let {name}: {type_} = [", *(f"            {line}" for line in lines), "        ]"]
    return name


def follow(topic: Topic) -> list[str]:
    kind = type_of(topic.type)
    parts = ["_ filters: [String: Filter]" if each == "filters" else f"_ {each}: String" for each in topic.arguments]
    parts.append("patience: Duration? = nil")
    if "{filters}" in topic.topic:
        channel = f'Connection.question("{topic.topic.partition("?")[0]}", filters)'
    else:
        channel = '"' + re.sub(r"\{(\w+)\}", r"\\(\1)", topic.topic) + '"'
    text = f"{topic.text} Each state of it from now on; an error ends it once it is away for longer than `patience`."
    return [
        *note(text, "    "),
        *wrapped(f"public func {topic.name}", parts, f" -> Updates<{kind}> {{", "    "),
        f"        connection.follow({channel}, patience: patience)", "    }"]
