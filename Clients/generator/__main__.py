"""usage: Scripts/clients [FOLDER]

Writes what docs/openapi.json says into the clients in Clients/, or into a copy of them in a folder.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True

import api  # noqa: E402
import python  # noqa: E402
import swift  # noqa: E402
import typescript  # noqa: E402

CLIENTS = Path(__file__).resolve().parents[1]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CLIENTS
    described = api.load(CLIENTS.parent / "docs" / "openapi.json")
    for language in (python, typescript, swift):
        for name, text in language.files(described).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


main()
