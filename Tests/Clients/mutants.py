"""Mutants: small mistakes in Swift sources, all of them compiled into one program that chooses one as it starts.

A mutant is a change of a few characters: another comparison, an operator, a bound, a condition that is negated, a call
that is left out. Each is written beside what it replaces, so a program with hundreds of them is built once. The line
that a mutant is in stays the line that it was in.
"""

import re
from dataclasses import dataclass

# What an operator becomes; what both its sides have to be, so that what does not fit is not built; its precedence, and result.
OPERATORS = {
    "<": ("<=", "Comparable", "ComparisonPrecedence", "Bool"),
    "<=": ("<", "Comparable", "ComparisonPrecedence", "Bool"),
    ">": (">=", "Comparable", "ComparisonPrecedence", "Bool"),
    ">=": (">", "Comparable", "ComparisonPrecedence", "Bool"),
    "==": ("!=", "Equatable", "ComparisonPrecedence", "Bool"),
    "!=": ("==", "Equatable", "ComparisonPrecedence", "Bool"),
    "+": ("-", "AdditiveArithmetic", "AdditionPrecedence", "T"),
    "-": ("+", "AdditiveArithmetic", "AdditionPrecedence", "T"),
    "*": ("+", "Numeric", "MultiplicationPrecedence", "T"),
    "/": ("*", "BinaryInteger", "MultiplicationPrecedence", "T"),
}
OPERATOR = re.compile(rf"(?<=[\w)\]}}\"?!] )({'|'.join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))})(?= [\w(\[.\"!-])")
LOGIC = re.compile(r"(?<=\s)(&&|\|\|)(?= )")
ASSIGNING = re.compile(r"(?<=[\w)\]] )(\+=|-=)(?= )")
RANGE = re.compile(r"(?<=[\w)\]])(\.\.<|\.\.\.)(?=[\w(])")
CONDITION = re.compile(r"^\s*(?:\} else )?(?:if|guard|while) (.+?)( else)? \{$")
CALL = re.compile(r"^\s+((?:try )?(?:[\w\]\[]+[?!]?\.)*\w+\(.*\))$")
ASSIGNMENT = re.compile(r"^\s+((?:self\.)?[\w.\[\]?]+ = [^{]+[\w)\]\"])$")
TRUTH = re.compile(r"^\s*return (true|false)$|(?<=return )(true|false)$")
NUMBER = re.compile(r"(?<== )(\d[\d_]*)(?=$| (?://|<<))|(?<=[( ])(\d[\d_]*)(?=\)|, )")
# Where a mistake changes nothing that can be tried: what ends a program that is wrong anyway, and what a compiler reads.
PASSED_OVER = re.compile(
    r"\b(?:precondition|assert|fatalError|assertionFailure|preconditionFailure|import|operator|case let|@available|#|where \w+ ==|"
    r"where [A-Z]|func \W|@inlinable|extension|protocol|typealias|[dD]escription|reserveCapacity|hasher\.combine|self\.(\w+) = \1$|self = )")
# The digits of a mutant's number in the name of its operator.
DIGITS = "⊕⊖⊗⊘⊙⊚⊛⊜"


@dataclass
class Mutant:
    """A place, and what stands there instead: in words, and as it is written into the source."""

    module: str
    path: str
    line: int
    start: int
    end: int
    was: str
    becomes: str
    number: int = -1

    def __str__(self):
        return f"{self.path}:{self.line}: {self.was} → {self.becomes}"


def masked(text: str) -> str:
    """The text with blanks for comments and for what is in quotes; it is as long as before."""
    out, place, end = list(text), 0, len(text)

    def blank(start, stop):
        for index in range(start, stop):
            if out[index] != "\n":
                out[index] = " "

    while place < end:
        if text.startswith("//", place):
            stop = text.find("\n", place)
            stop = end if stop < 0 else stop
            blank(place, stop)
        elif text.startswith("/*", place):
            stop = text.index("*/", place) + 2
            blank(place, stop)
        elif quote := re.compile(r'#*"""|#*"').match(text, place):
            marks = quote[0]
            hashes = marks.count("#")
            closing, stop = marks.lstrip("#") + "#" * hashes, quote.end()
            while not text.startswith(closing, stop):
                stop += 2 if text[stop] == "\\" and not hashes else 1
            blank(quote.start() + 1, stop + len(closing) - 1)
            out[quote.start()] = out[stop + len(closing) - 1] = '"'
            stop += len(closing)
        else:
            stop = place + 1
        place = stop
    return "".join(out)


def is_balanced(text) -> bool:
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return False
    return depth == 0


def found_in(module: str, path: str, text: str) -> list:
    """Every mutant of a source, in the order of its lines."""
    found, shown = [], text.split("\n")
    lines = masked(text).split("\n")
    for index, line in enumerate(lines):
        if PASSED_OVER.search(line) or not line.strip():
            continue

        def add(start, end, becomes):
            found.append(Mutant(module, path, index + 1, start, end, shown[index][start:end], becomes))

        for match in OPERATOR.finditer(line):
            near = line[:match.start()].split()[-1:] + line[match.end():].split()[:1]
            if not any(re.match(r"\(?nil\b", word) for word in near):
                add(match.start(), match.end(), OPERATORS[match[0]][0])
        for match in LOGIC.finditer(line):
            add(match.start(), match.end(), "||" if match[0] == "&&" else "&&")
        for match in ASSIGNING.finditer(line):
            add(match.start(), match.end(), "-=" if match[0] == "+=" else "+=")
        for match in RANGE.finditer(line):
            add(match.start(), match.end(), f"{match[0]} (one less)")
        if (match := CONDITION.match(line)) and is_balanced(match[1]) and not re.search(
                r"\b(?:let|var|case|is)\b|, |[{}]", match[1]):
            add(match.start(1), match.end(1), "its contrary")
        for match in TRUTH.finditer(line):
            which = 1 if match[1] else 2
            add(match.start(which), match.end(which), "false" if match[which] == "true" else "true")
        for match in NUMBER.finditer(line):
            which = 1 if match[1] else 2
            add(match.start(which), match.end(which), "one more")
        for pattern in (CALL, ASSIGNMENT):
            if (match := pattern.match(line)) and is_balanced(match[1]) and is_statement(lines, index):
                add(match.start(1), match.end(1), "nothing")
    return found


def is_statement(lines, index) -> bool:
    """Whether a line is a statement of several: the one expression of a body may be what the body is."""
    before, after = lines[index - 1].rstrip() if index else "", lines[index + 1].strip() if index + 1 < len(lines) else ""
    begins = before.endswith(("{", "}", ";")) or before.endswith(":") and before.strip().startswith(("case", "default")) \
        or not before.strip() or re.match(r"\s*(?:let|var|try|self\.|\w[\w.]*\(.*\)$|\w[\w.]* = )", before)
    return bool(begins) and not (before.endswith(("{", ":")) and after.startswith(("}", "case", "default"))) \
        and not after.startswith((".", "?", ":", "&&", "||", "+", "else"))


def written(mutant: Mutant, text: str) -> str:
    """What stands in the source in place of a mutant's `was`."""
    number = mutant.number
    if mutant.was in OPERATORS or mutant.was in ("&&", "||", "+=", "-=", "..<", "..."):
        return name_of(mutant)
    match mutant.becomes:
        case "its contrary":
            return f"mutated({number}) != ({text})"
        case "true" | "false":
            return f"mutated({number}) != {text}"
        case "one more":
            return f"(mutated({number}) ? {text} + 1 : {text})"
        case "nothing":
            return f"if !mutated({number}) {{ {text} }}"
    raise ValueError(mutant)


def name_of(mutant: Mutant) -> str:
    digits, number = "", mutant.number
    while True:
        digits, number = DIGITS[number % 8] + digits, number // 8
        if not number:
            # A name with dots begins with one.
            return (".." if mutant.was.startswith("..") else mutant.was) + digits


def apart(mutants: list) -> list:
    """The mutants without those that overlap an earlier one: a place can be written once."""
    taken, left = {}, []
    for mutant in mutants:
        places = taken.setdefault((mutant.path, mutant.line), [])
        if all(mutant.end <= start or end <= mutant.start for start, end in places):
            places.append((mutant.start, mutant.end))
            left.append(mutant)
    return left


def with_mutants(text: str, mutants: list) -> str:
    """A source with its mutants in it, none of which overlaps another."""
    lines = text.split("\n")
    for mutant in sorted(mutants, key=lambda each: -each.start):
        line = lines[mutant.line - 1]
        new = written(mutant, line[mutant.start:mutant.end])
        is_named = new == name_of(mutant) and mutant.was.startswith("..")
        lines[mutant.line - 1] = line[:mutant.start] + (f" {new} " if is_named else new) + line[mutant.end:]
    return "\n".join(lines)


def declarations(mutants: list, count: int) -> str:
    """The file of a module that has the operators of its mutants. Of `count` mutants of all modules, it is `CHOSEN_MUTANT`;
    those that are reached are marked in the file `REACHED_MUTANTS`, a byte for each."""
    out = [f"""#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private let chosen = getenv("CHOSEN_MUTANT").flatMap {{ Int(String(cString: $0)) }} ?? -1
nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = {{
    guard let path = getenv("REACHED_MUTANTS") else {{ return nil }}
    let file = open(path, O_RDWR | O_CREAT, 0o666)
    guard file >= 0, ftruncate(file, {count}) == 0 else {{ return nil }}
    let memory = mmap(nil, {count}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    close(file)
    return memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
}}()

func mutated(_ number: Int) -> Bool {{
    reached?[number] = 1
    return number == chosen
}}
"""]
    for mutant in mutants:
        name, number, was = name_of(mutant), mutant.number, mutant.was
        if was in OPERATORS:
            other, kind, precedence, result = OPERATORS[was]
            out.append(f"infix operator {name}: {precedence}\n"
                       f"func {name} <T: {kind}>(a: T, b: T) -> {result} {{ mutated({number}) ? a {other} b : a {was} b }}")
        elif was in ("&&", "||"):
            precedence = "LogicalConjunctionPrecedence" if was == "&&" else "LogicalDisjunctionPrecedence"
            out.append(f"infix operator {name}: {precedence}\n"
                       f"func {name} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                       f"{{ mutated({number}) ? try a {mutant.becomes} b() : try a {was} b() }}")
        elif was in ("+=", "-="):
            out.append(f"infix operator {name}: AssignmentPrecedence\n"
                       f"func {name} <T: AdditiveArithmetic>(a: inout T, b: T) "
                       f"{{ if mutated({number}) {{ a {mutant.becomes} b }} else {{ a {was} b }} }}")
        elif was in ("..<", "..."):
            kind = "Range" if was == "..<" else "ClosedRange"
            out.append(f"infix operator {name}: RangeFormationPrecedence\n"
                       f"func {name} <T: Strideable>(a: T, b: T) -> {kind}<T> where T.Stride: SignedInteger "
                       f"{{ mutated({number}) && a < b ? a{was}b.advanced(by: -1) : a{was}b }}")
    return "\n".join(out) + "\n"
