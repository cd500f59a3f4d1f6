"""The documents of the API.

Written by Scripts/clients from docs/openapi.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = []
