"""The sessions that README and docs show, typed into terminals and compared with what is printed.

A session is a code block with a prompt in it. `$ ` is typed into a shell, `127.0.0.1:7379> ` into redis-cli, and `> `
into `redis-cli --raw`. What stands below, up to the next prompt, is what has to be printed. The server is as `make run`
leaves it, on a fresh log. A comment before a block can say more, in words that are separated by commas:

    <!-- session: fresh log -->        begins with another server
    <!-- session: terminal two -->     types into another terminal, or goes on reading what is printed in it
    <!-- session: goes on -->          the last command of the block goes on; a later block has the rest
    <!-- session: file order.py -->    is a file in the folder of the terminals
    <!-- session: not run: … -->       is not run, and says why
"""

import codecs
import contextlib
import datetime
import os
import pty
import re
import select
import socket
import subprocess
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

import clients
import tiffin

SHELL = "$ "
CLIENT = "127.0.0.1:7379> "
RAW_CLIENT = "> "
# Bash's own prompt here: nothing that a command prints begins with it.
SHELL_PROMPT = "\x01$ "
PROMPTS = re.compile(rf"(?:{re.escape(SHELL_PROMPT)}|127\.0\.0\.1:\d+(?:\(TX\))?> )$")
INTERRUPT, END_OF_INPUT = b"\x03", b"\x04"
# What is typed where a program asks for a password.
PASSWORD = "correct horse"

# What another run prints otherwise; only here is said what varies. A name stands for what is printed in its place, there
# and in what is typed later. A figure stands for any other of its kind. Besides them, `…` stands for anything.
NAMES = {
    "time": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "day": r"\b\d{4}-\d\d-\d\d\b",
    "order": r"\b[0-9a-f]{24}[0-9a-z]{4}\b",
    "digest": r"\b(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16})\b",
    "secret": r"whsec_[A-Za-z0-9+/]{43}=",
}
FIGURES = {
    "duration": r"\b\d+(?:\.\d+)? (?:s|ms|µs)\b",
    "rate": r"\b\d+(?:,\d{3})*(?:\.\d+)?(?: a second\b|/s)",
    "checks": r"\b\d+(?:,\d{3})* made\b",
    "attempts": r"\b(?:attempt|failure) \d+\b",
}
# The server runs already, and the load generator and the example in Swift are built.
MADE_HERE = {"make run": None, "make monkey": "tiffin-monkey --duration 2s"}
BUILT_HERE = "swift run --package-path order "
# A shell's word on a job in the background.
JOB_LINE = re.compile(r"\[\d+\][ +-]+(?:\d+|Done|Terminated|Running)\b.*")


@dataclass
class Command:
    """What is typed at a prompt; what has to be printed then, and the line of the document."""

    prompt: str
    text: str
    line: int
    printed: list = field(default_factory=list)


@dataclass
class Block:
    """A session: what has to be printed before anything is typed, and the commands."""

    line: int
    fresh: bool = False
    terminal: str = "one"
    goes_on: bool = False
    not_run: str | None = None
    file: str | None = None
    text: str = ""
    before: list = field(default_factory=list)
    commands: list = field(default_factory=list)


def sessions(path: Path) -> list:
    """The sessions of a document, in their order."""
    blocks, remark, opened, lines = [], None, 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if opened and line == "```":
            if block := _block(lines, opened, remark):
                blocks.append(block)
            opened, remark, lines = 0, None, []
        elif opened:
            lines.append(line)
        elif line.startswith("```"):
            opened = number
        elif match := re.fullmatch(r"<!-- session: (.*) -->", line):
            remark = match[1]
        elif line.strip():
            assert remark is None, f"{path.name}:{number}: '{remark}' is not about a block"
    return blocks


def _block(lines, opened, remark) -> Block | None:
    block = Block(opened)
    for words in [remark] if remark and remark.startswith("not run: ") else (remark or "").split(", "):
        match words.partition(" "):
            case ["", _, _]:
                pass
            case ["fresh", _, "log"]:
                block.fresh = True
            case ["terminal", _, name]:
                block.terminal = name
            case ["goes", _, "on"]:
                block.goes_on = True
            case ["file", _, name]:
                block.file, block.text = name, "\n".join(lines) + "\n"
                return block
            case ["not", _, reason]:
                block.not_run = reason.removeprefix("run: ")
            case _:
                raise ValueError(f"line {opened}: nobody knows what '{words}' of a session means")
    rest = iter(enumerate(lines, opened + 1))
    for number, line in rest:
        prompt = next((prompt for prompt in (SHELL, CLIENT, RAW_CLIENT) if line.startswith(prompt)), None)
        if not prompt:
            (block.commands[-1].printed if block.commands else block.before).append(line)
            continue
        text = line.removeprefix(prompt)
        while prompt == SHELL and not _is_complete(text):
            text += "\n" + next(rest)[1]
        block.commands.append(Command(prompt, text, number))
    return block if block.commands or remark else None


def _is_complete(text) -> bool:
    """Whether the shell would begin with this, or wait for another line."""
    check = subprocess.run(["bash", "-n", "-c", text], capture_output=True, timeout=tiffin.PATIENCE_SECONDS)
    return not text.endswith("\\") and check.returncode == 0 and not check.stderr


class Terminal:
    """A shell on a terminal of its own, and redis-cli in it."""

    def __init__(self, folder, environment, port):
        self._pid, self._file = pty.fork()
        if not self._pid:
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        # Another terminal's shell must not hold this one open.
        os.set_inheritable(self._file, False)
        termios.tcsetwinsize(self._file, (500, 10_000))
        self._port = port
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        # What the text is typed into: the shell, or a client that somebody started there.
        self._prompt = SHELL
        self._is_busy = False
        self._type(f"PS1='{SHELL_PROMPT}' PS2=")
        self._until_prompt()

    def type(self, command, text) -> None:
        """Types a command at its prompt; waits for nothing."""
        if self._is_busy:
            self.interrupt()
        if self._prompt != SHELL and command.prompt != self._prompt:
            os.write(self._file, END_OF_INPUT)
            self._until_prompt()
        if self._prompt != command.prompt:
            self._type(f"redis-cli {'--raw ' if command.prompt == RAW_CLIENT else ''}-p {self._port}")
            self._until_prompt()
            self._prompt = command.prompt
        self._type(text)
        self._is_busy = True

    def printed(self) -> str:
        """What the command has printed when it has ended."""
        return self._until_prompt()

    def printed_so_far(self, matches) -> str:
        """What a command that goes on has printed, as soon as that is right; it may have ended since."""
        deadline = time.monotonic() + tiffin.PATIENCE_SECONDS
        while not matches(_shown(PROMPTS.sub("", self._text))) and self._read(deadline):
            pass
        text, self._text = _shown(PROMPTS.sub("", self._text)), ""
        return text

    def interrupt(self) -> None:
        """Ends what goes on."""
        os.write(self._file, INTERRUPT)
        self._until_prompt()
        if self._prompt != SHELL:
            return
        # A command that ends at the same moment leaves two prompts.
        deadline = time.monotonic() + tiffin.PATIENCE_SECONDS
        self._type("echo interrupted")
        while "interrupted" not in self._text:
            if not self._read(deadline):
                raise NoPrompt(_shown(self._text))
        self._text = self._text.partition("interrupted")[2]
        self._until_prompt()

    def close(self) -> None:
        # The terminal hangs up, and so whatever runs in it ends.
        os.close(self._file)
        tiffin.wait_until(lambda: os.waitpid(self._pid, os.WNOHANG)[0], "the shell to end")

    def _type(self, text):
        # The shell may have put back what it found when it began.
        modes = termios.tcgetattr(self._file)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self._file, termios.TCSANOW, modes)
        os.write(self._file, (text + "\n").encode())

    def _until_prompt(self) -> str:
        deadline, answered = time.monotonic() + tiffin.PATIENCE_SECONDS, 0
        while not (match := PROMPTS.search(self._text)):
            if question := re.search(r"(?:password|password of '.*'|again): *$", self._text[answered:]):
                answered += question.end()
                self._type(PASSWORD)
            if not self._read(deadline):
                raise NoPrompt(_shown(self._text))
        text, self._text, self._is_busy = self._text[:match.start()], "", False
        is_shell = SHELL_PROMPT in match[0]
        self._prompt = SHELL if is_shell else CLIENT if self._prompt == SHELL else self._prompt
        return _shown(text)

    def _read(self, deadline) -> bool:
        """Whether more was printed in time."""
        if not select.select([self._file], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            self._text += self._decoder.decode(os.read(self._file, 1 << 16))
        except OSError:
            return False
        return True


class NoPrompt(Exception):
    """A command did not end in time; what it has printed."""


def _shown(text) -> str:
    """What a terminal shows of a text: no colours, and of a line that was drawn again the last drawing."""
    wiped = re.sub(r"[^\n]*\r\x1b\[K", "", text)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", wiped)
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in plain.split("\n"))


class Comparison:
    """What varying words of a document stand for in this run."""

    def __init__(self, ports):
        # Of the document, and here.
        self.known = {}
        self._ports = ports
        self._shift = None

    def typed(self, text) -> str:
        """A command with the words of this run."""
        return self._replaced(text, lambda kind, word: self.known.get(word) or self._moved(kind, word))

    def matches(self, expected, actual) -> bool:
        """Whether this was to be printed; then the words in it are known."""
        names, groups = {}, []

        def group(kind, word):
            # What a document shows within one second may take longer here.
            if kind == "time" and (word in names or word in self.known):
                return NAMES[kind]
            if word in self.known:
                return re.escape(self.known[word])
            if word in names:
                return f"(?P={names[word]})"
            if kind in FIGURES:
                return FIGURES[kind]
            names[word] = f"g{len(names)}"
            groups.append((word, kind))
            return f"(?P<{names[word]}>{NAMES[kind]})"

        pattern = "".join(
            r"(?:.*\n)*?" if line.strip() == "…" else self._replaced(_columns(line), group, re.escape).replace("…", ".*?") + r"\n"
            for line in _without_empty_ends(expected))
        lines = [_columns(line) for line in actual.split("\n") if not JOB_LINE.fullmatch(line)]
        text = "".join(line + "\n" for line in _without_empty_ends(lines))
        if not (match := re.fullmatch(pattern, text)):
            return False
        for word, kind in groups:
            self.known[word] = match[names[word]]
            if kind == "time" and self._shift is None:
                self._shift = _time(match[names[word]]) - _time(word)
        return True

    def _replaced(self, text, varying, escaped=lambda plain: plain) -> str:
        """The text with what its varying words and ports stand for."""
        every = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in (NAMES | FIGURES).items())
        parts, end = [], 0
        for match in re.finditer(rf"{every}|(?P<port>\b(?:{'|'.join(self._ports)})\b)", text):
            word = match[0]
            parts.append(escaped(text[end:match.start()]))
            if match.lastgroup == "port":
                parts.append(escaped(self._ports[word]))
            else:
                parts.append(varying(match.lastgroup, word))
            end = match.end()
        return "".join(parts) + escaped(text[end:])

    def _moved(self, kind, word) -> str:
        """A time or a day that was not printed before is as far from the first time that was as in the document."""
        if self._shift is None or kind not in ("time", "day"):
            return word
        if kind == "day":
            # Of noon: a shift is not of whole days.
            return (datetime.datetime.fromisoformat(word + "T12:00:00") + self._shift).date().isoformat()
        return (_time(word) + self._shift).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _is_refused(client) -> bool:
    with contextlib.suppress(tiffin.ReplyError):
        client("LOG.HEAD")
        return False
    return True


def _time(word) -> datetime.datetime:
    return datetime.datetime.fromisoformat(word)


def _columns(line) -> str:
    """A line whose columns are as wide as they happen to be."""
    return re.sub(r"(?<=\S) +", " ", line.rstrip())


def _without_empty_ends(lines) -> list:
    lines = list(lines)
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return lines


def _free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


class Place:
    """A fresh log with its server, terminals in the server's folder, and the words of the run."""

    def __init__(self, folder):
        self._folder = folder
        os.chmod(folder, 0o711)
        release = Path(folder) / ".build" / "release"
        release.mkdir(parents=True)
        for program in ("tiffin", "tiffin-monkey"):
            os.symlink(Path(tiffin.binary()).parent / program, release / program)
        os.symlink(clients.SWIFT_PROGRAMS / "order", release / "order")
        for name in ("docs", "Packaging", "Demo", "Clients"):
            os.symlink(tiffin.CHECKOUT / name, Path(folder) / name)
        # The last two are of what a document starts itself.
        self._ports = {"7379": None, "7380": None, "7381": None, "7390": _free_port(), "8000": _free_port()}
        self._server = tiffin.Server(
            data_dir=f"{folder}/.tiffin", options=["--demo"],
            environment={"TIFFIN_WEB": "127.0.0.1:0", "TIFFIN_CONSOLE": "127.0.0.1:0"})
        self._terminals = {}

    def __enter__(self):
        self._server.start()
        self._ports |= {
            "7379": str(self._server.port), "7380": self._server.site("store").rpartition(":")[2],
            "7381": self._server.site("console").rpartition(":")[2]}
        self._comparison = Comparison(self._ports)
        return self

    def __exit__(self, *_):
        for terminal in self._terminals.values():
            terminal.close()
        self._server.stop()

    def terminal(self, name) -> Terminal:
        if name not in self._terminals:
            self._terminals[name] = Terminal(self._folder, {
                **{key: value for key, value in os.environ.items() if not key.startswith(("TIFFIN_", "PG"))},
                "PATH": f"{self._folder}/.build/release:{os.environ['PATH']}", "TERM": "dumb", "NO_COLOR": "1",
                "HOME": self._folder, "LC_ALL": "C.UTF-8", "TIFFIN_SERVER": f"127.0.0.1:{self._server.port}",
            }, self._server.port)
        return self._terminals[name]

    def run(self, block):
        """Types what is in a block. Gives what is not as the document says: line, expected, printed."""
        if block.file:
            path = Path(self._folder) / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._comparison.typed(block.text))
            return
        terminal = self.terminal(block.terminal)
        if block.before:
            yield from self._different(block.line, block.before, terminal.printed_so_far)
        for command in block.commands:
            text = self._comparison.typed(command.text)
            text = MADE_HERE.get(text.partition("#")[0].strip(), text)
            if text is None:
                continue
            text = text.removeprefix(BUILT_HERE)
            terminal.type(command, text)
            if block.goes_on and command is block.commands[-1]:
                yield from self._different(command.line, command.printed, terminal.printed_so_far)
            else:
                try:
                    printed = terminal.printed()
                except NoPrompt as text:
                    terminal.interrupt()
                    printed = f"{text}\n(and goes on)"
                yield from self._different(command.line, command.printed, lambda _: printed)
            if command.text.startswith("tiffin user add "):
                # Whoever types this by hand takes longer than servers need to hear of it.
                with self._server.client() as stranger:
                    tiffin.wait_until(lambda: _is_refused(stranger), "the server to know the first user")

    def _different(self, line, expected, printed):
        printed = printed(lambda text: self._comparison.matches(expected, text))
        if not self._comparison.matches(expected, printed):
            yield line, "\n".join(expected), printed.strip("\n")


def differences(path: Path):
    """Runs all sessions of a document: how many commands were typed, and what is not as it says."""
    found, typed = [], 0
    with contextlib.ExitStack() as stack:
        place = None
        for block in sessions(path):
            if block.not_run:
                continue
            if place is None or block.fresh:
                stack.close()
                folder = stack.enter_context(_folder())
                place = stack.enter_context(Place(folder))
            found.extend(place.run(block))
            typed += len(block.commands)
    return typed, found


@contextlib.contextmanager
def _folder():
    with tiffin.fresh_data_dir() as data:
        yield str(Path(data).parent)
