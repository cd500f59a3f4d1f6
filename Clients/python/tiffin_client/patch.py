"""JSON Patch (RFC 6902)."""

import copy
from typing import Any


class PatchError(ValueError):
    """A patch that does not fit its document."""


def apply_patch(document: Any, patch: list[dict[str, Any]]) -> Any:
    """The document after all operations; the one before stays as it is."""
    document = copy.deepcopy(document)
    try:
        for operation in patch:
            document = _apply(document, operation)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise PatchError(f"a patch does not fit: {error!r}") from error
    return document


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    path = _tokens(operation["path"])
    match operation["op"]:
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            _remove(document, path)
        case "replace":
            if not path:
                return operation["value"]
            container = _at(document, path[:-1])
            container[_key(container, path[-1])] = operation["value"]
        case "move":
            return _add(document, path, _remove(document, _tokens(operation["from"])))
        case "copy":
            return _add(document, path, copy.deepcopy(_at(document, _tokens(operation["from"]))))
        case "test":
            if _at(document, path) != operation["value"]:
                raise PatchError(f"{operation['path']} is not what the patch expects")
        case other:
            raise PatchError(f"there is no operation {other}")
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    container, last = _at(document, path[:-1]), path[-1]
    if isinstance(container, list):
        container.insert(len(container) if last == "-" else _index(last, len(container)), value)
    else:
        container[last] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    container = _at(document, path[:-1])
    return container.pop(_key(container, path[-1]))


def _at(document: Any, path: list[str]) -> Any:
    for token in path:
        document = document[_key(document, token)]
    return document


def _key(container: Any, token: str) -> Any:
    if isinstance(container, list):
        return _index(token, len(container) - 1)
    if token not in container:
        raise KeyError(token)
    return token


def _index(token: str, last: int) -> int:
    if not (token.isascii() and token.isdigit()) or int(token) > last:
        raise IndexError(token)
    return int(token)


def _tokens(pointer: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
