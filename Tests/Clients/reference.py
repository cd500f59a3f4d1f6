"""The generated parts of docs/reference/: what a server says of its commands. usage: Scripts/reference

A page for each group of commands has a section for each command, headed by its name. Between two markers stands what the
server says of the command, and below them what people wrote:

    ## CART.ADD
    <!-- generated: CART.ADD -->
    …
    <!-- end -->

The index of all commands in docs/reference/README.md stands between such markers, too, under the name `commands`. The
server is asked `COMMAND DOCS` for everything but the usage, which is that of `HELP`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import tiffin

FOLDER = tiffin.CHECKOUT / "docs" / "reference"
INDEX = FOLDER / "README.md"
END = "<!-- end -->"
# What every write takes; protocol.md describes it once.
OF_WRITES = ["ID", "VERSION", "FLOW", "ACTOR", "TRACE"]


@dataclass
class Command:
    """What a server says of a command."""

    name: str
    usage: str
    about: dict

    @property
    def anchor(self) -> str:
        """As GitHub makes it of a heading."""
        return re.sub(r"[^\w -]", "", self.name.lower()).replace(" ", "-")

    @property
    def head(self) -> str:
        """The generated part of its section."""
        is_write = self.about["effect"].startswith("write ")
        parameters = [
            parameter for parameter in self.about.get("arguments", [])
            if not (is_write and parameter.get("token") in OF_WRITES)]
        has_defaults = any("default" in parameter for parameter in parameters)
        rows = "".join(_row(parameter, has_defaults) for parameter in parameters)
        columns = "| parameter | takes |", "| --- | --- |"
        table = "\n" + "".join(
            f"{column}{more if has_defaults else ''}\n" for column, more in zip(columns, (" default |", " --- |"))) + rows
        return f"```\n{self._folded_usage}\n```\n\n{self.about['summary']}\n\n{self._users} {self._effect}\n{table if rows else ''}"

    @property
    def row(self) -> str:
        """Its line in the index."""
        name = f"[`{self.name}`]({self.about['group']}.md#{self.anchor})"
        return f"| {name} | {self.about['role']} | {self.about['summary']} |\n"

    @property
    def _folded_usage(self) -> str:
        """The usage in lines that a page has room for."""
        lines, end = [], 0
        for word in re.findall(r"\[[^\]]*\](?: …)?|\S+", self.usage):
            if lines and end + len(word) < 96:
                lines[-1] += " " + word
            else:
                lines.append(f"    {word}" if lines else word)
            end = len(lines[-1])
        return "\n".join(lines)

    @property
    def _users(self) -> str:
        users = [f"{user}s" for user in self.about["users"]]
        who = "Everybody" if len(users) == 4 else _listed(users).capitalize()
        also = self.about.get("also")
        return f"{who} may use it{f', also {_listed(also)}' if also else ''}."

    @property
    def _effect(self) -> str:
        effect, _, stream = self.about["effect"].partition(" ")
        if effect == "write":
            article = "" if stream.endswith("s") else "an " if stream[0] in "aeiou" else "a "
            return (f"It writes {article}{stream}, so it also takes [`ID`](../protocol.md#id-sending-again), "
                    "[`VERSION`](../protocol.md#version-only-if-nothing-changed), "
                    "[`FLOW` and `ACTOR`](../protocol.md#flow-and-actor-where-a-change-comes-from), and "
                    "[`TRACE`](../protocol.md#trace-what-a-change-is-part-of).")
        return "It writes nothing to the log." if effect == "read" else "It changes what lies beside the log."


def _listed(words) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if words[1:] else words[0]


def _row(parameter, has_defaults) -> str:
    values = "" if parameter["type"] == "pure-token" else parameter["name"]
    words = " ".join(filter(None, [parameter.get("token"), *(
        word if word == "…" else f"<{word}>" for word in values.split())]))
    flags = parameter.get("flags", [])
    usage = (f"[{words}]" if "optional" in flags else words) + (" …" if "multiple" in flags else "")
    accepts = parameter.get("accepts", "the word alone").replace("|", "\\|").replace("*", "\\*")
    default = f" `{parameter['default']}` |" if "default" in parameter else " |" if has_defaults else ""
    return f"| `{usage}` | {accepts} |{default}\n"


def commands(client) -> list:
    """Every command that the server knows, in its order; the client speaks RESP3."""
    # An indented line; the summary below it is indented more.
    usages = re.findall(r"^  (\S.*)$", _plain(client("HELP")), re.MULTILINE)
    found = []

    def add(name, about):
        subcommands = about.pop("subcommands", {})
        # A container is no command itself.
        if "effect" in about:
            shown = name.upper().replace("|", " ")
            found.append(Command(shown, next(usage for usage in usages if f"{usage} ".startswith(f"{shown} ")), about))
        for subcommand in subcommands.items():
            add(*subcommand)

    for entry in _plain(client("COMMAND", "DOCS")).items():
        add(*entry)
    return found


def _plain(value):
    """A reply with texts in place of bytes."""
    match value:
        case bytes():
            return value.decode()
        case list():
            return [_plain(part) for part in value]
        case dict():
            return {_plain(key): _plain(part) for key, part in value.items()}
    return value


def generated(every) -> dict:
    """Each page with its generated parts, by name."""
    pages = {INDEX: {"commands": _index(every)}}
    for command in every:
        pages.setdefault(FOLDER / f"{command.about['group']}.md", {})[command.name] = command.head
    return pages


def _index(every) -> str:
    groups = dict.fromkeys(command.about["group"] for command in every)
    return "\n".join(
        f"## [{group.capitalize()}]({group}.md)\n\n| command | for | |\n| --- | --- | --- |\n"
        + "".join(command.row for command in every if command.about["group"] == group) for group in groups)


def parts(page: Path) -> dict:
    """What stands between the markers of a page, by name, with the heading above."""
    text = page.read_text(encoding="utf-8")
    return {
        match["name"]: (match["heading"], match["text"]) for match in re.finditer(
            rf"(?:^## (?P<heading>.*)\n\n)?^<!-- generated: (?P<name>.*) -->\n(?P<text>(?:(?!^<!--).*\n)*?)^{END}$",
            text, re.MULTILINE)}


def written(text: str, texts: dict) -> str:
    """The page with these texts between its markers."""
    return re.sub(
        rf"(^<!-- generated: (.*) -->\n)(?:(?!^<!--).*\n)*?(?=^{END}$)",
        lambda match: match[1] + texts.get(match[2], ""), text, flags=re.MULTILINE)


def with_sections(text: str, names: list) -> str:
    """The page with a section for each of these commands, in this order; a new one has nothing but its markers."""
    following = ""
    for name in reversed(names):
        start = f"## {name}\n\n<!-- generated: {name} -->\n"
        if start not in text:
            section = f"{start}{END}\n"
            place = text.index(following) if following else len(text)
            text = text[:place] + (f"{section}\n" if following else f"\n{section}") + text[place:]
            print(f"{name} has a new section: describe it there")
        following = start
    return text


def main():
    with tiffin.fresh_database() as url, tiffin.Server(database=url) as server, server.client(protocol=3) as client:
        pages = generated(commands(client))
    for page, texts in pages.items():
        text = page.read_text(encoding="utf-8")
        page.write_text(written(text if page == INDEX else with_sections(text, list(texts)), texts), encoding="utf-8")


if __name__ == "__main__":
    main()
