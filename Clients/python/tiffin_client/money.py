"""Amounts of money."""

from dataclasses import dataclass
from decimal import Decimal

# Where there are not two decimals, by ISO 4217.
_UNUSUAL_DECIMALS = {
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
    "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3,
    "OMR": 3, "TND": 3, "CLF": 4, "UYW": 4,
}


@dataclass(frozen=True, slots=True)
class Money:
    """Minor units, such as pence, of a currency. Amounts of two currencies are never mixed: that is a ValueError."""

    minor: int
    currency: str

    def __add__(self, other: "Money") -> "Money":
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: "Money") -> "Money":
        return Money(self.minor - self._same(other), self.currency)

    def __mul__(self, times: int) -> "Money":
        if not isinstance(times, int):
            return NotImplemented
        return Money(self.minor * times, self.currency)

    __rmul__ = __mul__

    def __neg__(self) -> "Money":
        return Money(-self.minor, self.currency)

    def __lt__(self, other: "Money") -> bool:
        return self.minor < self._same(other)

    def __le__(self, other: "Money") -> bool:
        return self.minor <= self._same(other)

    @property
    def decimal(self) -> Decimal:
        """The amount in major units, for `locale` or whatever else formats it."""
        return Decimal(self.minor).scaleb(-_UNUSUAL_DECIMALS.get(self.currency, 2))

    def __str__(self) -> str:
        return f"{self.decimal:f} {self.currency}"

    def _same(self, other: "Money") -> int:
        if not isinstance(other, Money):
            raise TypeError(f"{other!r} is no money")
        if other.currency != self.currency:
            raise ValueError(f"{self.currency} and {other.currency} cannot be mixed")
        return other.minor
