"""Whether every learner still gives the numbers that it gave: for changes of structure, which must not change results.

    python benchmarks/same_numbers.py --record before.npz     # before the change
    python benchmarks/same_numbers.py --compare before.npz    # after it; ends with 1 where numbers differ

Models are those of tests/models/model_zoo.py, in every method that a fit may take, and some larger problems. Numbers
agree if they differ by at most 1e-12 of the largest; labels agree if they are equal.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "models")]
TOLERANCE = 1e-12


def problems() -> dict[str, Any]:
    """(model, rows, new rows, targets, settings) by name: 600 rows, which reach methods that 50 rows do not."""
    from mercer import KernelLogisticRegression, KernelPCA, KernelRidge, KernelRidgeClassifier, KernelSVC, KernelSVR

    draw = np.random.default_rng(1)
    X, new = draw.normal(size=(600, 5)), draw.normal(size=(40, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * draw.normal(size=600)
    two, four = np.where(y > 0, "b", "a"), np.digitize(y, [-1.0, 0.0, 1.0])
    models = {
        "ridge of 600": (KernelRidge(), y),
        "ridge of 600, gaussian, alpha given": (KernelRidge("gaussian(1.0)", alpha=0.1), y),
        "ridge classes of 600": (KernelRidgeClassifier(), four),
        "svc of 600": (KernelSVC("gaussian(1.5)", C=10.0), two),
        "svc of 600, four classes": (KernelSVC("gaussian(1.5)", tol=1e-6), four),
        "svr of 600": (KernelSVR("laplace(2.0)", epsilon=0.05), y),
        "logistic of 600": (KernelLogisticRegression("gaussian(2.0)", alpha=0.1), two),
        "components of 600": (KernelPCA("gaussian(2.0)", n_components=4), None),
    }
    return {name: (model, X, new, (y,) if y is not None else (), {}) for name, (model, y) in models.items()}


def numbers() -> dict[str, np.ndarray[Any, Any]]:
    """All answers of all models, by "model | method"."""
    import model_zoo  # type: ignore[import-not-found]

    found = {}
    for name, (model, X, new, targets, settings) in (model_zoo.MODELS | problems()).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = clone(model).set_params(**settings).fit(X, *targets)
            for method, value in model_zoo.answers(fitted, new).items():
                if (array := np.asarray(value)).dtype.kind in "biuf" or method == "predict":
                    found[f"{name} | {method}"] = array.astype(str) if array.dtype.kind == "O" else array
    return found


def differences(before: Any, after: dict[str, np.ndarray[Any, Any]]) -> list[str]:
    """One line for each answer that is gone, new, or different."""
    lines = [f"gone: {name}" for name in before if name not in after]
    lines += [f"new: {name}" for name in after if name not in before]
    for name in before:
        old, new = before[name], after.get(name)
        if new is None:
            continue
        if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
            lines.append(f"another form: {name}: {old.dtype} {old.shape}, {new.dtype} {new.shape}")
        elif old.dtype.kind != "f":
            if (count := int((old != new).sum())) > 0:
                lines.append(f"other labels: {name}: {count} of {old.size}")
        elif (off := float(np.abs(old - new).max(initial=0.0) / max(np.abs(old).max(initial=0.0), 1e-300))) > TOLERANCE:
            lines.append(f"other numbers: {name}: off by {off:.1e}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    found = numbers()
    print(f"{len(found)} answers")
    if options.record:
        np.savez_compressed(options.record, **found)  # type: ignore[arg-type]  # the stub takes names for a flag
    if options.compare:
        with np.load(options.compare) as before:
            lines = differences({name: before[name] for name in before}, found)
        print("\n".join(lines) or "all the same")
        return int(bool(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
