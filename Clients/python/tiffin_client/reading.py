"""Documents as dataclasses: members that this client does not know are left out, and absent ones are None."""

import dataclasses
import functools
import types
import typing
from typing import Any

_SCALARS: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}


def read(kind: Any, value: Any) -> Any:
    """A value that was parsed from JSON, as a type. Raises ValueError if it is none."""
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _read_object(kind, value)
    match typing.get_origin(kind):
        case typing.Union | types.UnionType:
            return _read_one_of(typing.get_args(kind), value)
        case origin if origin is list and isinstance(value, list):
            (item,) = typing.get_args(kind)
            return [read(item, each) for each in value]
        case origin if origin is dict and isinstance(value, dict):
            item = typing.get_args(kind)[1]
            return {key: read(item, each) for key, each in value.items()}
        case typing.Literal if isinstance(value, str):
            # Of several words there may be more one day. One alone tells which object it is.
            if len(words := typing.get_args(kind)) > 1 or value in words:
                return value
    if kind is type(None) and value is None:
        return None
    if kind in _SCALARS and isinstance(value, _SCALARS[kind]) and (kind is bool or not isinstance(value, bool)):
        return value
    raise ValueError(f"{value!r} is no {kind}")


def write(value: Any) -> Any:
    """A value for JSON; a member that is None is left out."""
    if dataclasses.is_dataclass(value):
        members = ((name, getattr(value, field)) for field, name, _ in _members(type(value)))
        return {name: write(member) for name, member in members if member is not None}
    if isinstance(value, (list, tuple)):
        return [write(each) for each in value]
    if isinstance(value, dict):
        return {key: write(each) for key, each in value.items()}
    return value


def _read_object(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no {kind.__name__}")
    found = {}
    for field, name, type_ in _members(kind):
        try:
            found[field] = read(type_, value.get(name))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return kind(**found)


def _read_one_of(kinds: tuple, value: Any) -> Any:
    for kind in kinds:
        try:
            return read(kind, value)
        except ValueError:
            pass
    raise ValueError(f"{value!r} is none of {kinds}")


@functools.cache
def _members(kind: Any) -> list[tuple[str, str, Any]]:
    """Of each field its name, that in JSON, and its type."""
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return [(field.name, field.metadata.get("json", field.name), hints[field.name]) for field in fields]
