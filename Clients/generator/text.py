"""Comments and lists that fit into a line."""

import textwrap

WIDTH = 120


def sentence(text: str) -> str:
    """What is said of a member or a type, as a sentence."""
    text = text.strip()
    return text and text[0].upper() + text[1:].removesuffix(".") + "."


def comment(text: str, indent: str, mark: str, width: int = WIDTH) -> list[str]:
    """The lines of a comment, each with its mark."""
    start = indent + mark
    lines = []
    for paragraph in text.split("\n"):
        lines += textwrap.wrap(paragraph, width - len(start), break_on_hyphens=False) or [""]
    return [(start + line).rstrip() for line in lines]


def bound(part: str) -> str:
    """A part whose words stay together; those of a long list do so as far as they are one element."""
    bound = part.replace(" ", "\0")
    return bound if len(part) <= 90 else bound.replace("),\0(", "), (").replace(',\0"', ', "')


def listed(head: str, parts: list[str], tail: str, indent: str, comma: str = "") -> list[str]:
    """`head(a, b)tail` on one line, or with the parts on lines of their own. `comma` ends the last of these."""
    one = head + ", ".join(parts) + tail
    if len(indent + one) <= WIDTH:
        return [indent + one]
    own = indent + "    "
    lines = textwrap.wrap(
        ", ".join(map(bound, parts)), WIDTH - len(own) - 1, break_long_words=False, break_on_hyphens=False)
    lines = [own + line.replace("\0", " ") for line in lines]
    lines[-1] += comma
    return [indent + head, *lines, indent + tail]
