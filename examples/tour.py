"""A tour: a model of real data, kernels proven and refuted, lifts, and a model's shape."""

import time
from importlib.util import find_spec
from pathlib import Path

import aapl
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mercer
from mercer.geometry import Ellipse
from mercer.kernels import Gaussian, Linear, Matern, Periodic
from mercer.lifts import Nystrom, Polynomial, RandomFourier
from mercer.operators import Gram


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def least_squares() -> None:
    title("A model of real data: what was planned and why, how good it is, and a picture")
    days, y = aapl.prices()
    model = mercer.KernelRidge("matern(nu=1.5, lengthscale='median')", lengthscale="loo").fit(aapl.time_of(days), y)
    print(model.plan_)
    print(f"{model.kernel_}: {model.loo_}")
    _, std = model.predict(aapl.time_of(days), return_std=True)
    print(f"{model.degrees_of_freedom_:.1f} degrees of freedom, noise of {model.noise_**0.5:.2f} dollars, ", end="")
    print(f"prices known to {std.mean():.2f} dollars\n")
    picture = Path("build") / "aapl.png"
    picture.parent.mkdir(exist_ok=True)
    aapl.main(["--picture", str(picture)] if find_spec("matplotlib") else [])


def main() -> None:
    least_squares()

    title("A kernel is a tree: written, printed and parsed back")
    kernel = 0.5 * Gaussian("median").on([0]) * Periodic(period=12.0).on([1]) + Linear()
    print(kernel)
    print("parses back to an equal kernel:", mercer.parse(str(kernel)) == kernel)

    title("Why it is a kernel")
    print(mercer.prove(kernel))

    title("What is not a kernel is refuted, with points that anyone can check")
    print(mercer.prove("sinc", d=3).claim)
    proof = mercer.prove("sinc", d=4)
    print(proof)
    assert isinstance(proof.witness, mercer.Witness)
    X, c = proof.witness.points, proof.witness.weights
    print(f"again, with NumPy: c @ k(X) @ c = {c @ mercer.kernels.Sinc()(X) @ c:.6f}")

    title("The open number is found from data, and the Gram matrix follows")
    months = np.arange(24.0)
    data = np.column_stack([months + 0.3 * np.sin(months), months])
    closed = kernel.resolve(data)
    K = closed(data)
    print(closed)
    print(f"{K.shape[0]} x {K.shape[1]} matrix, smallest eigenvalue {np.linalg.eigvalsh(K)[0]:.2e}")

    title("A Gram matrix that need not exist")
    rows = np.random.default_rng(0).normal(size=(20_000, 10))
    large = Gram(Gaussian(3.0) + 0.5 * Linear() * Matern(1.5, 3.0), rows)
    print(large)
    print(f"stored, it would take {8 * large.shape[0] ** 2 / 1e9:.1f} GB; a product holds {large.peak() / 1e6:.1f} MB")
    print("the first product compiles the formula, unless that is on disk already ...")
    for _ in range(2):
        start = time.perf_counter()
        large @ np.ones(large.shape[1])
        print(f"  400 million pairs in {time.perf_counter() - start:.2f} s")

    title("A kernel and its lift are one object")
    phi = mercer.lift(Linear() + Linear() ** 2, 2)
    print(f"{phi.kernel_} has the features {phi.get_feature_names_out().tolist()}")
    print("phi(x).phi(z) =", (phi.transform([[1.0, 2.0]]) @ phi.transform([[3.0, 4.0]]).T).item(), end=", ")
    print("k(x, z) =", phi.kernel_([[1.0, 2.0]], [[3.0, 4.0]]).item())

    title("Where no lift is finite, an approximation says how wrong it is")
    some = rows[:2_000]
    for lift in (RandomFourier(Gaussian(3.0), 1_000, random_state=0), Nystrom(Gaussian(3.0), 1_000, random_state=0)):
        print(f"{type(lift).__name__}: {lift.fit(some).certificate(some)}")
    needed = RandomFourier.components_for(Gaussian(), epsilon=0.1, delta=0.01, n=1_000_000)
    print(f"before any data: {needed} random features keep all pairs of a million points within 0.1, 99 times of 100")

    title("A linear classifier on lifted features is a shape")
    true = Ellipse([0.4, -0.3], [2.0, 1.0], np.pi / 6)
    points = np.random.default_rng(1).uniform(-3, 3, size=(2_000, 2))
    model = make_pipeline(StandardScaler(), Polynomial(2), SVC(kernel="linear", C=1e4))
    print(f"true:   {true}")
    print(f"found:  {mercer.region(model.fit(points, true.contains(points)))}")


if __name__ == "__main__":
    main()
