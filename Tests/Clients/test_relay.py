"""`tiffin relay`: events posted to a web address, signed, in order, at least once, whatever happens."""

import json
import random
import subprocess
import time
from email.utils import formatdate

import pytest

from receiver import Receiver, check
from tiffin import (
    PATIENCE_SECONDS, Server, binary, fresh_database, item_document, put_open_outlet, run_tiffin, section_document,
    sql, wait_until,
)


class Relay:
    """A relay process that can be killed and started again."""

    def __init__(self, server, database, receiver, *options):
        self.arguments = [
            binary(), "relay", "--to", getattr(receiver, "url", receiver), "--server", f"127.0.0.1:{server.port}", "--database", database,
            "--retry-after", "5", "--retry-most", "40", "--timeout", "1", *options]
        self.process = None
        self.said = ""

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        self.end()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()

    def end(self) -> int:
        """The status of a relay that ends by itself."""
        if not self.process.stderr.closed:
            self.said += self.process.communicate(timeout=PATIENCE_SECONDS)[1]
        return self.process.returncode


@pytest.fixture
def kitchen(database):
    """A server with a log of its own, and its database."""
    with Server(database=database) as server:
        # That there is a relay is the first event of the log.
        secret_of(database)
        yield server, database


def write(client, number):
    """Writes some events: an outlet with a menu, and carts."""
    put_open_outlet(client, f"kitchen-{number}", [section_document("lunch", [item_document("rice", 100)])])
    for cart in range(4):
        client("CART.ADD", f"cart-{number}-{cart}", f"kitchen-{number}", "rice", 1, "NOTE", "größer")


def documents(client, partitions=1) -> dict:
    """The events of the log by the ids of their messages."""
    return {
        f"{partition}-{position}": document for partition in range(partitions)
        for position, document in enumerate(client("LOG.READ", "PARTITION", partition, "COUNT", 1000), 1)}


def set_aside(database) -> set:
    """The ids of the events that relays have given up."""
    return set(sql("select partition || '-' || position from tiffin.relay_deliveries where set_aside_at is not null",
                   database).split())


def secret_of(database, *options) -> str:
    run = run_tiffin("relay", "--show-secret", "--database", database, *options)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("seed, options", [(1, ()), (2, ("--give-up-after", "2"))])
def test_nothing_is_skipped_whatever_fails(seed, options):
    chance = random.Random(seed)
    plan = ["take"] * 20 + ["refuse"] * (20 if options else 6) + ["cut"] * 4 + ["redirect", "gone"] * 2
    plan += ["kill-before", "kill-after"] * 3
    # Each of these takes as long as the relay is patient.
    plan += ["late", "hang"]
    chance.shuffle(plan)
    with fresh_database() as database, Receiver(plan) as receiver:
        assert run_tiffin("migrate", "--database", database, "--partitions", 2).returncode == 0
        secret_of(database)
        _nothing_is_skipped(database, receiver, options)


def _nothing_is_skipped(database, receiver, options):
    def missing():
        """What is neither taken nor set aside."""
        rest = set(expected) - set(receiver.taken)
        return rest - set_aside(database) if rest and options else rest

    with Server(database=database) as server, server.client() as client:
        write(client, 0)
        relay = Relay(server, database, receiver, *options)
        receiver.kill = lambda: relay.kill()
        with relay:
            for number in range(1, 6):
                # Some come while it runs.
                write(client, number)
            expected = documents(client, 2)
            while missing():
                if relay.process.poll() is not None:
                    relay.end()
                    relay.start()
                wait_until(
                    lambda: relay.process.poll() is not None or not missing(),
                    "events to be taken, or the relay to be killed")
        check(receiver, secret_of(database), expected, set_aside(database))
        assert not receiver.plan and bool(set_aside(database)) == bool(options)


def test_what_is_written_later_is_posted_at_once_and_by_its_kind(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        with Relay(server, database, receiver, "--name", "carts", "--only", "cart", "--only", "outlet.opened"):
            receiver.wait_for(lambda: len(receiver.taken) == 5)
            write(client, 1)
            receiver.wait_for(lambda: len(receiver.taken) == 10)
        kinds = [bytes(document).split(b'"kind":"')[1].split(b'"')[0] for _, _, document, _ in receiver.requests]
        assert kinds == [b"outlet.opened", *[b"cart.itemAdded"] * 4] * 2
        assert all(documents(client)[identifier] for identifier in receiver.taken)
        # It goes on where it stopped, past what it passes over; another one has a place and a secret of its own.
        # The last one may have been taken and not be kept yet.
        last = len(documents(client))
        assert int(sql("select position from tiffin.relay_cursors where relay = 'carts'", database)) in (last - 1, last)
        assert secret_of(database, "--name", "carts") != secret_of(database)
        assert secret_of(database) == secret_of(database)


def test_failures_are_said_and_a_stop_is_no_failure(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver(["refuse", "redirect", "cut"]) as receiver:
        write(client, 0)
        with Relay(server, database, receiver, "--only", "outlet.registered") as relay:
            receiver.wait_for(lambda: receiver.taken)
            wait_until(lambda: client.json("RELAY.LIST")["relays"][0]["failure"] is None, "all to be well")
            relay.process.terminate()
            assert relay.end() == 0
        with Relay(server, database, receiver):
            write(client, 1)
            receiver.wait_for(lambda: f"0-{len(documents(client))}" in receiver.taken)
    assert "event 0-2 is not taken: the address is answered with status 500. Trying again in 0.00" in relay.said
    assert "event 0-2 is not taken: the address is answered with status 302." in relay.said
    assert "event 0-2 is taken, at attempt 4" in relay.said
    assert receiver.url not in relay.said
    with server.client() as client:
        (place,) = client.json("RELAY.LIST")["relays"]
        assert place == {"name": "default", "partition": 0, "position": place["position"], "events": place["events"],
                         "heldBack": 0, "setAside": 0, "failure": None, "failedAt": None} and place["events"] <= 1
        # Nobody is there any more.
        with Relay(server, database, receiver):
            write(client, 1)
            wait_until(lambda: client.json("RELAY.LIST")["relays"][0]["failure"], "the failure to be seen")
            (place,) = client.json("RELAY.LIST")["relays"]
            assert f"event 0-{place['position'] + 1} is not taken" in place["failure"] and place["failedAt"]
            assert place["position"] + place["events"] == len(documents(client))


def streams_of(documents) -> dict:
    """The ids of the events by their streams."""
    streams = {}
    for identifier, document in documents.items():
        streams.setdefault(json.loads(document)["stream"], []).append(identifier)
    return streams


def tell(database, *options, status=0):
    run = run_tiffin("relay", *options, "--database", database)
    assert run.returncode == status, run
    return run.stdout if status == 0 else run.stderr


def test_a_refused_event_holds_back_its_stream_and_no_other(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        for _ in range(2):
            client("CART.ADD", "cart-0-1", "kitchen-0", "rice", 1)
        expected = documents(client)
        first, *later = streams_of(expected)["cart-cart-0-1"]
        receiver.refused = {first}
        with Relay(server, database, receiver, "--retry-most", "100"):
            receiver.wait_for(lambda: len(receiver.taken) == len(expected) - 3)
            place = client.json("RELAY.LIST")["relays"][0]
            wait_until(lambda: client.json("RELAY.LIST")["relays"][0]["events"] == 0, "the place")
            place = client.json("RELAY.LIST")["relays"][0]
            assert (place["heldBack"], place["setAside"]) == (3, 0) and first in place["failure"]
            lines = tell(database, "--list").splitlines()
            assert lines[0].startswith(f"{first} cart-cart-0-1@1 cart.itemAdded ")
            assert ": held back, next at " in lines[0] and lines[0].endswith(": the address is answered with status 500")
            assert [line.endswith(f": waits for {first}") for line in lines[1:]] == [True, True]
            receiver.refused = set()
            receiver.wait_for(lambda: len(receiver.taken) == len(expected))
            assert receiver.taken[-3:] == [first, *later]
            wait_until(lambda: tell(database, "--list") == "", "nothing to be held back")
            wait_until(lambda: client.json("RELAY.LIST")["relays"][0]["failure"] is None, "all to be well")
        check(receiver, secret_of(database), expected)


def test_an_event_is_given_up_sent_again_and_skipped(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        client("CART.ADD", "cart-0-1", "kitchen-0", "rice", 1)
        expected = documents(client)
        (first, later), (other,) = (streams_of(expected)[f"cart-cart-0-{number}"] for number in (1, 2))
        receiver.refused = {first, other}
        with Relay(server, database, receiver, "--give-up-after", "2", "--only", "cart") as relay:
            receiver.wait_for(lambda: later in receiver.taken)
            wait_until(lambda: client.json("RELAY.LIST")["relays"][0]["setAside"] == 2, "both to be set aside")
            assert [line.split()[0] for line in tell(database, "--list").splitlines()] == [first, other]
            assert ": set aside at " in tell(database, "--list") and ", 2 attempts, the last at " in tell(database, "--list")
            # The partition waits for the next one of a stream, and then that has to wait for an earlier one.
            receiver.refused, receiver.plan = {other}, ["busy"] * 100_000
            client("CART.ADD", "cart-0-1", "kitchen-0", "rice", 1)
            expected = documents(client)
            last = f"0-{len(expected)}"
            wait_until(lambda: last in (client.json("RELAY.LIST")["relays"][0]["failure"] or ""), "the partition to wait")
            tell(database, "--again", first)
            wait_until(lambda: f": waits for {first}" in tell(database, "--list"), "the last one to wait")
            receiver.plan = []
            receiver.wait_for(lambda: receiver.taken[-1] == last)
            assert receiver.taken[-2] == first
            for wrong in (("--again", later), ("--skip", later, "--reason", "no")):
                assert f"neither holds back event {later}, nor has set it aside" in tell(database, *wrong, status=1)
            tell(database, "--skip", other, "--reason", "too long for the till")
            wait_until(lambda: tell(database, "--list") == "", "nothing to be set aside")
            relay.process.terminate()
            assert relay.end() == 0
        assert f"event {other} is not taken: the address is answered with status 500. It is set aside" in relay.said
        skipped = json.loads(documents(client)[f"0-{len(expected) + 1}"])
        assert (skipped["kind"], skipped["stream"], skipped["payload"]) == (
            "relay.skipped", "relay-default",
            {"partition": 0, "position": int(other.split("-")[1]), "reason": "too long for the till"})
    told = run_tiffin("why", "relay", "default", "--database", database)
    assert f"skipped event {other}: too long for the till" in told.stdout, told
    assert run_tiffin("audit", "--database", database).returncode == 0


def hold_back_since(database, receiver, relay, event, interval):
    """Has an event be refused, and makes it so that it was refused first so long ago."""
    receiver.refused = {event}
    with relay:
        wait_until(lambda: event in tell(database, "--list"), "the event to be held back")
    sql(f"update tiffin.relay_deliveries set refused_at = now() - interval '{interval}'", database)


def test_an_event_is_given_up_that_is_refused_for_three_days(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        client("CART.ADD", "cart-0-1", "kitchen-0", "rice", 1)
        first, later = streams_of(documents(client))["cart-cart-0-1"]
        relay = Relay(server, database, receiver)
        hold_back_since(database, receiver, relay, first, "71 hours")
        with relay:
            attempts = receiver.attempts(first)
            receiver.wait_for(lambda: receiver.attempts(first) > attempts + 2)
        assert not set_aside(database) and later not in receiver.taken
        hold_back_since(database, receiver, relay, first, "73 hours")
        with Relay(server, database, receiver, "--give-up-time", "0"):
            attempts = receiver.attempts(first)
            receiver.wait_for(lambda: receiver.attempts(first) > attempts + 2)
        assert not set_aside(database) and later not in receiver.taken
        with relay:
            receiver.wait_for(lambda: later in receiver.taken)
            assert set_aside(database) == {first}
            # The time begins anew for what is sent again.
            attempts = receiver.attempts(first)
            tell(database, "--again", first)
            receiver.wait_for(lambda: receiver.attempts(first) > attempts + 2)
            assert not set_aside(database)


def test_an_event_is_given_up_after_so_many_seconds(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        expected = documents(client)
        first, = streams_of(expected)["cart-cart-0-1"]
        receiver.refused = {first}
        with Relay(server, database, receiver, "--give-up-time", "1"):
            wait_until(lambda: set_aside(database) == {first}, "the event to be given up")
        refused = [when for _, headers, _, when in receiver.requests if headers["webhook-id"] == first]
        assert 1 <= refused[-1] - refused[0] < 3 and len(refused) > 5


def test_no_event_is_given_up_while_nobody_is_there(kitchen):
    server, database = kitchen
    with server.client() as client:
        write(client, 0)
        first, = streams_of(documents(client))["cart-cart-0-1"]
        with Receiver() as receiver:
            relay = Relay(server, database, receiver)
            hold_back_since(database, receiver, relay, first, "73 hours")
        tried = "select attempts - refusals from tiffin.relay_deliveries"
        with relay:
            wait_until(lambda: int(sql(tried, database)) > 2, "attempts that reach nobody")
        assert not set_aside(database)


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("answer", ["busy", "refuse"])
def test_a_receiver_is_left_alone_as_long_as_it_says(kitchen, form, answer):
    server, database = kitchen
    with server.client() as client, Receiver([answer]) as receiver:
        write(client, 0)
        # Of a date in whole seconds, more than one of two is left.
        receiver.retry_after = "1" if form == "seconds" else formatdate(time.time() + 2.1, usegmt=True)
        with Relay(server, database, receiver, "--retry-most", "10000"):
            receiver.wait_for(lambda: len(receiver.taken) == len(documents(client)))
        first, again = (when for _, headers, _, when in receiver.requests if headers["webhook-id"] == "0-1")
        assert 0.95 <= again - first < 5


def test_a_receiver_is_not_left_alone_for_longer_than_the_longest_pause(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver(["busy"] * 3) as receiver:
        write(client, 0)
        for receiver.retry_after in ("86400", "9" * 30, "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "-5"):
            receiver.plan = ["busy"] * 2
            client("CART.ADD", "cart-0-1", "kitchen-0", "rice", 1)
            with Relay(server, database, receiver):
                receiver.wait_for(lambda: set(receiver.taken) == set(documents(client)), 10)


def test_nobody_refuses_where_nobody_is(kitchen):
    """What is not reached, or has no time, counts for nothing: no event is given up while a receiver is away."""
    server, database = kitchen
    with server.client() as client:
        with Receiver() as gone:
            write(client, 0)
        with Relay(server, database, gone, "--give-up-after", "1"):
            wait_until(lambda: client.json("RELAY.LIST")["relays"], "a failure")
            (place,) = client.json("RELAY.LIST")["relays"]
            assert (place["position"], place["heldBack"], place["setAside"]) == (0, 0, 0)
        with Receiver(["busy"] * 3) as receiver, Relay(server, database, receiver, "--give-up-after", "1"):
            receiver.wait_for(lambda: len(receiver.taken) == len(documents(client)))
        check(receiver, secret_of(database), documents(client))


def test_lines_are_whole_and_each_is_kept_whenever_the_relay_is_killed(kitchen, tmp_path):
    server, database = kitchen
    path = tmp_path / "events.jsonl"
    with server.client() as client:
        write(client, 0)
        # As if the relay had been killed in the middle of a line.
        path.write_bytes(b'{"torn"')
        relay = Relay(server, database, f"file:{path}", "--format", "cloudevents", "--source", "urn:kitchen")
        for number in range(1, 6):
            with relay:
                write(client, number)
                wait_until(lambda: len(path.read_bytes().splitlines()) > 5 * number, "lines")
        expected = documents(client)
        with relay:
            wait_until(lambda: json.loads(path.read_bytes().splitlines()[-1])["id"] == f"0-{len(expected)}", "the last")
        seen = {}
        for line in path.read_bytes().splitlines():
            message = json.loads(line)
            seen.setdefault(message["id"], message)
        assert list(seen) == list(expected)
        for identifier, document in expected.items():
            event = json.loads(document)
            assert seen[identifier] == {
                "specversion": "1.0", "id": identifier, "source": "urn:kitchen", "type": event["kind"],
                "subject": event["stream"], "time": event["recordedAt"], "datacontenttype": "application/json",
                "data": event}
        # Another begins at the beginning, for whoever reads its output.
        arguments = [
            binary(), "relay", "--name", "other", "--to", "-", "--server", f"127.0.0.1:{server.port}", "--database", database]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert [process.stdout.readline().rstrip(b"\n") for _ in expected] == list(expected.values())
            process.terminate()
            assert process.wait(20) == 0


def test_one_process_at_a_time_is_a_relay(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver, Relay(server, database, receiver):
        write(client, 0)
        receiver.wait_for(lambda: receiver.taken)
        second = Relay(server, database, receiver).start()
        assert second.end() == 1
        assert second.said == "tiffin relay: another process is relay 'default' already\n"


def test_a_server_that_comes_back_is_followed_again(kitchen):
    server, database = kitchen
    with Receiver() as receiver, Relay(server, database, receiver) as relay:
        with server.client() as client:
            write(client, 0)
        receiver.wait_for(lambda: receiver.taken)
        server.arguments[2] = f"127.0.0.1:{server.port}"
        server.stop()
        server.start()
        with server.client() as client:
            write(client, 1)
            expected = documents(client)
        receiver.wait_for(lambda: len(receiver.taken) == len(expected))
        check(receiver, secret_of(database), expected)
        relay.process.terminate()
        assert relay.end() == 0
        assert "the server answers again" in relay.said


def test_another_log_stops_it_until_somebody_says_where_to_go_on(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        count = len(documents(client))
        with Relay(server, database, receiver):
            receiver.wait_for(lambda: len(receiver.taken) == count)
            wait_until(lambda: sql("select position from tiffin.relay_cursors", database) == str(count), "the cursor")
        # As if the event at the cursor had been another one, in a log that is lost.
        sql("update tiffin.relay_cursors set event = 'cart-x@1 cart.cleared 2026-03-01T12:00:00Z'", database)
        relay = Relay(server, database, receiver).start()
        assert relay.end() == 1
        assert f"the log does not have what was relayed up to position {count} (cart-x@1" in relay.said
        assert len(receiver.taken) == count
        with Relay(server, database, receiver, "--from", "3"):
            # The last one says that it was moved.
            receiver.wait_for(lambda: len(receiver.taken) == 2 * count - 1)
        assert receiver.taken[count:] == [f"0-{position}" for position in range(3, count + 2)]
        assert documents(client)[f"0-{count + 1}"].find(b'"kind":"relay.moved"') > 0


def test_a_lost_place_stops_it_until_somebody_says_where_to_go_on():
    with fresh_database() as database, Receiver() as receiver:
        assert run_tiffin("migrate", "--database", database, "--partitions", 2).returncode == 0
        with Server(database=database) as server, server.client() as client:
            secret_of(database)
            write(client, 0)
            before = documents(client, 2)
            with Relay(server, database, receiver) as relay:
                wait_until(
                    lambda: sql("select sum(position) from tiffin.relay_cursors", database) == str(len(before)),
                    "the places")
                relay.process.terminate()
                assert relay.end() == 0
            sql("delete from tiffin.relay_cursors where partition = 1", database)
            relay = Relay(server, database, receiver).start()
            assert relay.end() == 1
            assert "tiffin.relay_cursors has lost the relay's place in partition 1. '--from <position>' " in relay.said
            # To say it of another partition is not enough.
            relay = Relay(server, database, receiver, "--from", "1", "--partition", "0").start()
            assert relay.end() == 1 and "place in partition 1" in relay.said
            assert receiver.taken == receiver.taken[:len(before)]
            last = max(int(event.split("-")[1]) for event in before if event.startswith("1-"))
            with Relay(server, database, receiver, "--from", str(last), "--partition", "1"):
                receiver.wait_for(lambda: f"1-{last}" in receiver.taken[len(before):])
                write(client, 1)
                receiver.wait_for(lambda: set(receiver.taken) == set(documents(client, 2)))
            # Of what was taken before, that one came again.
            assert set(receiver.taken[len(before):]) & set(before) == {f"1-{last}"}


def test_a_lost_relay_is_not_made_again_without_a_word(kitchen):
    server, database = kitchen
    with server.client() as client, Receiver() as receiver:
        write(client, 0)
        with Relay(server, database, receiver):
            receiver.wait_for(lambda: len(receiver.taken) == len(documents(client)))
        secret = secret_of(database)
        count = len(documents(client))
        sql("delete from tiffin.relays", database)
        lost = "tiffin.relays has lost relay 'default', which is in the log, with its secret and its places."
        assert lost in tell(database, "--show-secret", status=1)
        for options in ((), ("--from", "1", "--partition", "0")):
            relay = Relay(server, database, receiver, *options).start()
            assert relay.end() == 1 and lost in relay.said
        assert len(receiver.taken) == count
        with Relay(server, database, receiver, "--from", str(count)):
            receiver.wait_for(lambda: receiver.taken[count:] == [f"0-{count}", f"0-{count + 1}", f"0-{count + 2}"])
        assert secret_of(database) != secret
    assert run_tiffin("audit", "--database", database).returncode == 0


def test_relays_of_earlier_versions_that_have_not_begun_get_their_places(kitchen):
    server, database = kitchen
    server.stop()
    sql("delete from tiffin.relay_cursors; alter table tiffin.relay_deliveries drop column refused_at; "
        "delete from tiffin.migrations where name = 'relay_places'", database)
    server.start()
    with Receiver() as receiver, server.client() as client, Relay(server, database, receiver):
        write(client, 0)
        receiver.wait_for(lambda: len(receiver.taken) == len(documents(client)))


@pytest.mark.parametrize("options, problem", [
    ((), "--to is needed"),
    (("--to", "ftp://example.com/"), "--to"),
    (("--to", "https://user:password@example.com/"), "--to"),
    (("--to", "http://127.0.0.1:1/", "--from", "0"), "--from"),
    (("--to", "http://127.0.0.1:1/", "--name", "a/b"), "--name"),
    (("--to", "file:"), "--to"),
    (("--to", "-", "--format", "xml"), "--format"),
    (("--again", "0-0"), "--again"),
    (("--skip", "0-1"), "--skip and --reason belong together"),
])
def test_wrong_options_are_refused(kitchen, options, problem):
    server, database = kitchen
    run = run_tiffin("relay", "--database", database, "--server", f"127.0.0.1:{server.port}", *options)
    assert run.returncode == 64
    assert problem in run.stderr


def test_it_says_at_once_that_nothing_can_be_asked(kitchen):
    _, database = kitchen
    run = run_tiffin("relay", "--database", database, "--server", "127.0.0.1:1", "--to", "http://127.0.0.1:1/")
    assert run.returncode == 1
    assert "cannot connect to 127.0.0.1:1" in run.stderr
