"""Numbers as people read them."""

from __future__ import annotations

from typing import Any


def number(value: Any) -> str:
    """A number for people.

    >>> number(1234567), number(0.000123456), number(float("nan")), number(3.0), number(12345.6)
    ('1,234,567', '0.0001235', '-', '3', '12,346')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if value != value:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.1234), percent(1.0), percent(0.0004)
    ('12.3 %', '100 %', '0.04 %')
    """
    return f"{100 * share:.3g} %"
