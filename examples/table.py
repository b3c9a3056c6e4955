"""From a raw table to a classifier: mercer.kernel_for looks at the columns, and a kernel is the whole preparation.

python examples/table.py [--data FOLDER] [--folds]

With --data the table is german_credit.parquet in that folder: a thousand loans, thirteen columns of labels and seven
of numbers. Else a table of orders is made, with dates, missing entries and a column that numbers the rows. With --folds
the model is compared with one that is prepared by hand: numbers standardised, labels as columns of zeros and ones, a
Gaussian kernel with the median distance as its lengthscale; both choose their penalty by leave-one-out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import KernelRidgeClassifier, kernel_for
from mercer.errors import message
from mercer.kernels import Gaussian

TARGET = "target"


def table(folder: Path | None = None) -> Any:
    """A frame of pandas with a column `target`: loans where there is a folder of data, else orders that are made."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        got, remedy = "it is not installed", "Run: pip install pandas pyarrow"
        raise SystemExit(message("pandas", got, remedy, subject="The example")) from error
    return pandas.DataFrame(orders()) if folder is None else pandas.read_parquet(folder / "german_credit.parquet")


def orders(count: int = 400) -> dict[str, Any]:
    """Orders of a shop: late where the way is long and the carrier slow, on weekends, and by chance."""
    rng = np.random.default_rng(8)
    days = np.datetime64("2022-01-01") + rng.integers(0, 900, count)
    carrier = rng.choice(["fast", "fair", "slow"], count, p=[0.3, 0.5, 0.2])
    distance = rng.gamma(2.0, 150.0, count)
    delay = distance / 300 + 2 * (carrier == "slow") - (carrier == "fast") + 1.5 * (~np.is_busday(days))
    return {
        "order_id": [f"A{1000 + i}" for i in range(count)],
        "day": days,
        "carrier": [None if u < 0.05 else name for u, name in zip(rng.random(count), carrier, strict=True)],
        "distance": [None if u < 0.1 else round(x, 1) for u, x in zip(rng.random(count), distance, strict=True)],
        "gift": rng.random(count) < 0.2,
        TARGET: np.where(delay + rng.normal(size=count) > 1.8, "late", "in time"),
    }


def fitted(rows: Any) -> KernelRidgeClassifier:
    """A classifier of the raw rows: its kernel looks at each column as kernel_for found it right."""
    kernel = kernel_for(rows, target=TARGET).kernel
    return KernelRidgeClassifier(kernel, verbose=False).fit(rows, rows[TARGET].to_numpy())


def by_hand(rows: Any) -> Any:
    """The usual preparation: standardised numbers, zeros and ones for labels, one Gaussian kernel."""
    numbers, labels = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    ones = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((StandardScaler(), numbers), (ones, labels))
    model = make_pipeline(columns, KernelRidgeClassifier(Gaussian("median"), verbose=False))
    return model.fit(rows.drop(columns=TARGET), rows[TARGET].to_numpy())


def right(model: Any, rows: Any) -> NDArray[np.bool_]:
    """Which rows get their class."""
    return np.asarray(model.predict(rows) == rows[TARGET].to_numpy())


def accuracy(model: Any, rows: Any) -> float:
    """How many rows get their class."""
    return float(right(model, rows).mean())


def folds(rows: Any, count: int = 10, draws: int = 5) -> tuple[float, float, float]:
    """The accuracy on rows that were left out, of the proposed kernel and by hand, and the error of their difference.

    All rows are dealt to folds several times. The standard error is that over rows, which folds share.
    """
    found = np.zeros((2, draws, len(rows)))
    for seed in range(draws):
        for train, test in StratifiedKFold(count, shuffle=True, random_state=seed).split(rows, rows[TARGET]):
            found[:, seed, test] = _both(rows.iloc[train], rows.iloc[test])
    ours, theirs = found.mean(axis=(1, 2))
    error = (found[0] - found[1]).mean(axis=0).std() / len(rows) ** 0.5
    return float(ours), float(theirs), float(error)


def _both(train: Any, test: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows get their class, by both models; neither sees what is to be predicted."""
    return right(fitted(train), test), right(by_hand(train), test)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="From a raw table to a classifier.")
    parser.add_argument("--data", type=Path, help="the folder with german_credit.parquet")
    parser.add_argument("--folds", action="store_true", help="compare with a preparation by hand, by 10 folds, 5 times")
    asked = parser.parse_args(arguments)
    rows = table(asked.data)
    train, test = rows.iloc[: 3 * len(rows) // 4], rows.iloc[3 * len(rows) // 4 :]
    print(kernel_for(train, target=TARGET))
    model = fitted(train)
    most = float(test[TARGET].value_counts(normalize=True).max())
    print(
        f"accuracy on {len(test)} rows that it did not see: {accuracy(model, test):.3f} (the largest class: {most:.3f})"
    )
    if asked.folds:
        ours, theirs, error = folds(rows)
        print(f"10 folds, 5 times: {ours:.3f} with kernel_for, {theirs:.3f} by hand (difference +- {error:.3f})")


if __name__ == "__main__":
    main(sys.argv[1:])
