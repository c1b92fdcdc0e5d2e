"""The four steps of a day's end and what undoes them; each attempt carries the step's own key.

A step may be told to rehearse a failure: to do its work and have its report dropped, or never to
do it. Both leave the same thing behind, a lease that nobody names, and only a retry tells them
apart.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from examples.end_of_day import books
from examples.end_of_day.plans import (
    COMPENSATIONS,
    DISCOUNT,
    INVOICE,
    NEVER,
    NOTIFICATION,
    STALL,
    TARIFF,
)
from tasks_app.sdk.context import Context
from tasks_app.sdk.handlers import handler

IGNORE_KEY: Final = "END_OF_DAY_IGNORE_KEY"
"""Environment: the invoice step writes its line at every attempt."""

PRICE: Final = 12.5
SHARE: Final = 0.9


@handler(TARIFF)
def fix_tariff(payload: Any, ctx: Context) -> dict[str, Any]:
    """Price a seller's orders of the day."""
    amount = payload["orders"] * PRICE
    return _do(payload, ctx, amount, _entry(payload, ctx, "tariff fixed"))


@handler(DISCOUNT)
def grant_discount(payload: Any, ctx: Context) -> dict[str, Any]:
    """Take the discount off."""
    amount = round(payload["amount"] * SHARE, 2)
    return _do(payload, ctx, amount, _entry(payload, ctx, "discount granted"))


@handler(INVOICE)
def write_invoice(payload: Any, ctx: Context) -> dict[str, Any]:
    """Write the invoice's line."""
    amount = payload["amount"]
    line = partial(books.write_invoice_line, payload["seller"], amount, ctx.key)
    return _do(payload, ctx, amount, line, ignore_key=bool(os.environ.get(IGNORE_KEY)))


@handler(NOTIFICATION)
def notify(payload: Any, ctx: Context) -> dict[str, Any]:
    """Tell the seller."""
    return _do(payload, ctx, payload["amount"], _entry(payload, ctx, "notified"))


@handler(COMPENSATIONS[TARIFF])
def release_tariff(payload: Any, ctx: Context) -> None:
    """Undo a fixed tariff."""
    _undo(payload, ctx, "tariff released")


@handler(COMPENSATIONS[DISCOUNT])
def revoke_discount(payload: Any, ctx: Context) -> None:
    """Undo a granted discount."""
    _undo(payload, ctx, "discount revoked")


@handler(COMPENSATIONS[INVOICE])
def void_invoice(payload: Any, ctx: Context) -> None:
    """Write a credit over what was invoiced."""
    seller, amount = payload["payload"]["seller"], payload["result"]["amount"]
    books.once(ctx.key, partial(books.write_invoice_line, seller, -amount, ctx.key))


def _entry(payload: Mapping[str, Any], ctx: Context, entry: str) -> Callable[[], None]:
    return partial(books.write_entry, payload["seller"], entry, ctx.key)


def _do(
    payload: Mapping[str, Any],
    ctx: Context,
    amount: float,
    write: Callable[[], None],
    *,
    ignore_key: bool = False,
) -> dict[str, Any]:
    """Do a step's work, and fail as it was told to."""
    if payload.get("rehearse") == NEVER:
        ctx.abandon()
    if ignore_key:
        write()
    else:
        books.once(ctx.key, write)
    if payload.get("rehearse") == STALL and ctx.attempt == 1:
        ctx.abandon()
    return {"amount": amount}


def _undo(payload: Mapping[str, Any], ctx: Context, entry: str) -> None:
    seller = payload["payload"]["seller"]
    books.once(ctx.key, partial(books.write_entry, seller, entry, ctx.key))
