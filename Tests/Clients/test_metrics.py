"""`/metrics`, as Prometheus reads it, and the dashboard that shows it."""

import json
import re
import shutil
import subprocess
import urllib.request

import pytest

from tiffin import CHECKOUT, PATIENCE_SECONDS, Server

DASHBOARD = CHECKOUT / "Packaging" / "grafana-dashboard.json"
ALERTS = CHECKOUT / "Packaging" / "alerts.yml"


@pytest.fixture
def metrics(database):
    with Server(database=database, options=("--web", "127.0.0.1:0", "--console", "127.0.0.1:0")) as server:
        with server.client() as client:
            client("CART.COUNT", "cart-1")
            client.error("CART.SET", "cart-1", "x", 1)
            client.error("NONSENSE")
        with urllib.request.urlopen(f"http://{server.site('store')}/healthz", timeout=PATIENCE_SECONDS):
            pass
        url = f"http://{server.site('console')}/metrics"
        urllib.request.urlopen(url, timeout=PATIENCE_SECONDS).close()
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            yield answer.read().decode()


def names(text):
    return set(re.findall(r"^(tiffin_\w+)", text, re.MULTILINE))


def value(text, sample):
    return float(re.search(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)[1])


def test_prometheus_finds_nothing_wrong_with_the_metrics(metrics):
    promtool = shutil.which("promtool") or pytest.skip("promtool is not installed")
    check = subprocess.run([promtool, "check", "metrics"], input=metrics, text=True, capture_output=True, timeout=PATIENCE_SECONDS)
    assert (check.returncode, check.stdout + check.stderr) == (0, "")


def test_the_numbers_are_those_that_were_counted(metrics):
    assert value(metrics, 'tiffin_command_seconds_count{command="cart.count"}') == 1
    assert value(metrics, 'tiffin_command_seconds_bucket{command="cart.count",le="+Inf"}') == 1
    assert value(metrics, 'tiffin_command_failures_total{command="cart.set"}') == 1
    assert value(metrics, 'tiffin_errors_total{code="ERR"}') == 1
    assert value(metrics, 'tiffin_http_answers_total{status="200"}') == 2
    assert value(metrics, 'tiffin_partition_position{partition="0"}') == 0
    buckets = [float(count) for count in re.findall(r"^tiffin_http_request_seconds_bucket.* (\S+)$", metrics, re.MULTILINE)]
    assert buckets == sorted(buckets)
    assert value(metrics, "tiffin_resident_memory_bytes") > 1_000_000


def test_the_dashboard_asks_only_for_metrics_that_there_are(metrics):
    dashboard = json.loads(DASHBOARD.read_text())
    asked = {
        name for panel in dashboard["panels"] for target in panel["targets"]
        for name in re.findall(r"tiffin_\w+", target["expr"])
    }
    # So do the alarms.
    asked |= set(re.findall(r"tiffin_\w+", ALERTS.read_text()))
    assert asked <= names(metrics)
    places = [tuple(panel["gridPos"].values()) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places) == len({panel["title"] for panel in dashboard["panels"]})
