"""redis-cli, redis-benchmark and redis-py connect without a warning."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import textwrap
import time

import pytest
from tiffin import PATIENCE_SECONDS



def redis_cli(server, *arguments, stdin=""):
    return subprocess.run(
        ["redis-cli", "-p", str(server.port), *arguments],
        input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )


@pytest.mark.parametrize("protocol", [[], ["-2"], ["-3"]], ids=["default", "RESP2", "RESP3"])
def test_redis_cli_prints_the_reply_and_nothing_else(server, protocol):
    run = redis_cli(server, *protocol, "CART.COUNT", "never-seen")
    assert (run.stdout, run.stderr, run.returncode) == ("0\n", "", 0)


@pytest.mark.parametrize("protocol", [[], ["-3"]], ids=["default", "RESP3"])
def test_redis_cli_reads_commands_from_a_pipe(server, outlet, protocol):
    run = redis_cli(server, *protocol, stdin=f"CART.ADD {outlet}-cart {outlet} rice 2\nCART.COUNT {outlet}-cart\n")
    assert run.stderr == ""
    assert run.stdout.split() == ["2", "2"]
    redis_cli(server, "CART.CLEAR", f"{outlet}-cart")


@pytest.mark.parametrize("protocol", [[], ["-3"]], ids=["default", "RESP3"])
def test_redis_cli_on_a_terminal_reads_the_command_table_and_shows_hints(server, protocol):
    child, terminal = pty.fork()
    if child == 0:
        # A terminal without a width would be asked for it; and a test leaves no history.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        os.environ.update(TERM="xterm", REDISCLI_HISTFILE="/dev/null")
        os.execvp("redis-cli", ["redis-cli", "-p", str(server.port), *protocol])
    seen = b""

    def read_until(expected):
        nonlocal seen
        deadline = time.monotonic() + PATIENCE_SECONDS
        while expected not in seen:
            assert time.monotonic() < deadline, f"no {expected!r} in {seen!r}"
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 4096)
        text, _, seen = seen.partition(expected)
        return text

    try:
        greeting = read_until(b"> ")
        assert b"rror" not in greeting and b"arning" not in greeting, greeting
        # Completion comes from COMMAND DOCS: a tab completes the name.
        os.write(terminal, b"cart.coun\t never-seen\r")
        read_until(b"(integer) 0")
        # Whatever is typed before the prompt is thrown away.
        read_until(b"> ")
        os.write(terminal, b"command help\r")
        read_until(b"LOG.PROVE <stream> <version>")
        os.write(terminal, b"\x04")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def test_every_command_is_listed_without_knowing_one(server, client):
    """redis-cli keeps HELP for itself, so `COMMAND HELP` is what works there."""
    netcat = subprocess.run(
        ["nc", "127.0.0.1", str(server.port)], input="HELP\nQUIT\n", capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    for run in [redis_cli(server, "COMMAND", "HELP"), netcat]:
        assert (run.stderr, run.returncode) == ("", 0)
        for command in ["CART.ADD", "OUTLET.HOME", "LOG.PROVE <stream> <version>", "COMMAND HELP", "QUIT"]:
            assert command in run.stdout
        assert len(run.stdout.splitlines()) >= client("COMMAND", "COUNT")


def test_one_command_is_described_in_redis_cli(server):
    described = redis_cli(server, "COMMAND", "HELP", "cart.count").stdout
    assert described.startswith("CART.COUNT <cart>") and len(described.splitlines()) == 2
    assert "NOTFOUND no such command" in redis_cli(server, "COMMAND", "HELP", "CART.COUNTS").stdout
    # The hint that an unknown subcommand gets has to work where it is read.
    assert "Try COMMAND HELP CLIENT." in redis_cli(server, "CLIENT", "NOSUCH").stdout
    assert "CLIENT SETNAME" in redis_cli(server, "COMMAND", "HELP", "CLIENT").stdout


@pytest.mark.parametrize("protocol", [[], ["-3"]], ids=["default", "RESP3"])
def test_a_transaction_of_redis_cli_does_nothing(server, outlet, protocol):
    cart = f"{outlet}-cli{''.join(protocol)}"
    lines = ["MULTI", f"CART.ADD {cart} {outlet} rice 2", "EXEC", f"CART.COUNT {cart}"]
    said = redis_cli(server, *protocol, stdin="\n".join(lines) + "\n").stdout.split("\n")
    assert said[0] == "OK"
    assert said[1].startswith("ERR Command not allowed inside a transaction")
    assert [line for line in said[2:] if line] == ["EXECABORT Transaction discarded because of previous errors.", "0"]


def test_redis_benchmark_runs_without_a_warning(server, outlet):
    run = subprocess.run(
        ["redis-benchmark", "-p", str(server.port), "-n", "2000", "-c", "20", "-P", "4", "-r", "100", "-q",
         "CART.ADD", f"{outlet}-__rand_int__", outlet, "rice", "1"],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "requests per second" in run.stdout
    assert "WARN" not in run.stdout.upper() and "Error" not in run.stdout


@pytest.mark.parametrize("options", ["", "protocol=2", "protocol=3"], ids=["default", "RESP2", "RESP3"])
@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_redis_py_connects_without_a_warning(server, outlet, options, flavour):
    call, run = ("", "main()") if flavour == "sync" else ("await ", "asyncio.run(main())")
    program = f"""
        import asyncio, logging, redis, redis.asyncio
        logging.basicConfig(level=logging.WARNING)

        {"async " if call else ""}def main():
            {"asyncio.get_running_loop().slow_callback_duration = 60  # A busy machine is no fault." if call else ""}
            module = redis{".asyncio" if call else ""}
            client = module.Redis(port={server.port}, client_name="till", {options})
            assert {call}client.ping()
            cart = "{outlet}-{flavour}-{options[-1:]}"
            assert {call}client.execute_command("CART.ADD", cart, "{outlet}", "rice", 2) == 2
            assert {call}client.client_getname() in ("till", b"till")
            pipeline = client.pipeline(transaction=False)
            for _ in range(100):
                pipeline.execute_command("CART.COUNT", cart)
            assert {call}pipeline.execute() == [2] * 100
            # As it comes, a pipeline is a transaction, and there is none.
            pipeline = client.pipeline()
            for quantity in [1, 2]:
                pipeline.execute_command("CART.ADD", cart, "{outlet}", "rice", quantity)
            try:
                {call}pipeline.execute()
            except redis.ResponseError as error:
                assert "pipeline(transaction=False)" in str(error), error
            else:
                raise AssertionError("a transaction was accepted")
            assert {call}client.execute_command("CART.COUNT", cart) == 2, "nothing of it has happened"
            try:
                {call}pipeline.watch("cart")
            except redis.ResponseError as error:
                assert "VERSION" in str(error), error
            else:
                raise AssertionError("something is watched")
            {call}pipeline.reset()
            try:
                {call}client.execute_command("CART.ADD", cart, "{outlet}", "no-such-item", 1)
            except redis.ResponseError as error:
                assert str(error).startswith("NOTFOUND"), error
            else:
                raise AssertionError("an unknown item was accepted")
            assert ({call}client.info("server"))["redis_version"]
            {call}client.{"aclose" if call else "close"}()

        {run}
    """
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )
    assert (run.stderr, run.stdout, run.returncode) == ("", "", 0)
