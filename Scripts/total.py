"""Adds up the results of Scripts/test and ends with `N passed, N failed, N skipped`.

A test is a test case of a JUnit file. Lint and build count as one each, and so does a run of tests that
failed without naming a failed test: a crash or a timeout.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

# Some versions of SwiftPM append the name of the library to that of the report.
REPORTS = {
    "swift-tests": "swift*.xml", "client-tests": "clients.xml", "timed-tests": "timed.xml",
    "browser-tests": "browser.xml",
}


def count(reports: list[Path]) -> tuple[int, int, int]:
    try:
        cases = [case for report in reports for case in ElementTree.parse(report).iter("testcase")]
    except (OSError, ElementTree.ParseError):
        return 0, 0, 0
    failed = sum(any(case.find(kind) is not None for kind in ("failure", "error")) for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def main(folder: Path) -> int:
    total_passed = total_failed = total_skipped = 0
    print()
    outcomes = [file for file in folder.iterdir() if file.suffix in (".passed", ".failed")]
    for outcome in sorted(outcomes, key=lambda file: file.stat().st_mtime_ns):
        step, ended_well = outcome.stem, outcome.suffix == ".passed"
        if step in REPORTS:
            passed, failed, skipped = count(list(folder.glob(REPORTS[step])))
            if not ended_well and not failed:
                failed = 1
        else:
            passed, failed, skipped = int(ended_well), int(not ended_well), 0
        counts = f" ({passed} passed, {failed} failed, {skipped} skipped)" if step in REPORTS else ""
        print(f"{step:>12}: {'passed' if ended_well else 'FAILED'}{counts}")
        total_passed += passed
        total_failed += failed
        total_skipped += skipped
    print(f"{total_passed} passed, {total_failed} failed, {total_skipped} skipped")
    return 1 if total_failed or not total_passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
