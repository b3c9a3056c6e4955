"""The table of bad fits: what is given, and what the error must say. In a message `...` stands for anything."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import DomainError, InputError, KernelError, ParseError
from mercer.kernels import Gaussian, Linear, Min, Polynomial
from mercer.lifts import Nystrom, Trigonometric
from mercer.solvers import Cholesky, GradientDescent

READ = "a table, a Parquet file or folder, a memory map, or a source of mercer.sources"
N = 12
draw = np.random.default_rng(5)
X = draw.normal(size=(N, 3))
X[0] = [0.5, -0.5, 0.25]
Y = np.sin(X[:, 0]) + X[:, 1]
TWO = np.column_stack([Y, X[:, 2]])
LABELS = np.where(Y > 0, "on", "off")
FRAME = pd.DataFrame(X, columns=["age", "height", "weight"])
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
DAYS = np.arange(N).astype("datetime64[D]")


def but(array, at, value):
    """A copy with one entry replaced."""
    changed = np.array(array)
    changed[at] = value
    return changed


def masked(array):
    """The same array with its first entry missing."""
    return np.ma.masked_array(array, mask=np.arange(np.size(array)).reshape(np.shape(array)) == 0)


INDEFINITE = but(but(K, (0, 1), 2.0), (1, 0), 2.0)
ALPHA = 'KernelRidge needs a finite number of at least 0 for alpha, an array of such, or "auto"; '
KERNEL = "KernelRidge needs a kernel, its text, a function, a lift or 'precomputed'; "
LENGTH = 'KernelRidge needs a lengthscale that is "median", "loo" or a positive number; '
SOLVER = 'KernelRidge needs solver="auto" or a solver of mercer.solvers; '
WEIGHT = "KernelRidge needs sample_weight of finite numbers of at least 0; "
CLASSES = "KernelRidgeClassifier needs class_weight of finite numbers of at least 0; "
TIME = "KernelRidge needs a positive number of seconds, or None, for time_limit; "
TABLE = "Give an array, a list of rows, or a DataFrame."
OVERFLOW = "overflows on this data. Scale the data down, or normalize the kernel."
RAGGED = "got lists of unequal lengths. Give an array, or a list of equally long lists."
MISSING = "got a masked array with missing entries. Fill or drop these."


def fit(name, message, error=InputError, learner=KernelRidge, X=X, y=Y, sample_weight=None, **settings):
    """A case: a fit that fails."""
    return pytest.param(learner(**settings), (X, y, sample_weight), error, message, id=name)


def classify(name, message, error=InputError, y=LABELS, **rest):
    return fit(name, message, error, KernelRidgeClassifier, y=y, **rest)


def precomputed(name, message, X, error=InputError, **rest):
    return fit(name, message, error, X=X, kernel="precomputed", **rest)


TABLES = [
    fit("X is None", f"KernelRidge needs an array for X; got None. {TABLE}", X=None),
    fit("X is a dict", f"KernelRidge needs an array for X; got {{'a': [1]}}. {TABLE}", X={"a": [1]}),
    fit("X is text", f"KernelRidge needs {READ}; got 'data.csv'. Give a path that ends in .parquet", X="data.csv"),
    fit("X is a function", f"KernelRidge needs {READ}; got something... Use mercer.sources.Batches", X=len),
    fit("X is a number", "Expected 2D array, got scalar array...Reshape", ValueError, X=3.0),
    fit("X of one dimension", "Expected 2D array, got 1D array...Reshape your data", ValueError, X=X[:, 0]),
    fit("X of three dimensions", "Found array with dim 3", ValueError, X=X[None]),
    fit("X without rows", "Found array with 0 sample(s) (shape=(0, 3))", ValueError, X=X[:0], y=Y[:0]),
    fit("X without columns", "Found array with 0 feature(s) (shape=(12, 0))", ValueError, X=X[:, :0]),
    fit("X of complex numbers", "Complex data not supported", ValueError, X=X + 1j),
    fit("X with NaN", "Input X contains NaN", ValueError, X=but(X, (2, 1), np.nan)),
    fit("X with infinity", "Input X contains infinity", ValueError, X=but(X, (2, 1), np.inf)),
    fit("X sparse with NaN", "Input X contains NaN", ValueError, X=csr_array(but(X, (2, 1), np.nan))),
    fit("X of words", "KernelRidge needs numbers for X; column 0, row 0 holds 'w'. Convert", X=np.full((N, 3), "w")),
    fit("X of numbers as text", "needs numbers for X; column 0, row 0 holds '0.5'. Convert it", X=X.astype(str)),
    fit("X of objects with a word", "column 1, row 2 holds 'w'. Convert it", X=but(X.astype(object), (2, 1), "w")),
    fit("X with None in it", "Input X contains NaN", ValueError, X=but(X.astype(object), (2, 1), None)),
    fit("X with a dict in it", "float() argument", TypeError, X=but(X.astype(object), (2, 1), {})),
    fit("X of dates", "numbers for X; column 0, row 0 holds '1970-01-01'. Count the days", X=np.c_[DAYS, DAYS]),
    fit("X of durations", "column 0, row 0 holds '0 days'. Count the days since", X=(DAYS - DAYS[0])[:, None]),
    fit("X of rows that differ", f"KernelRidge needs an array for X; {RAGGED}", X=[[1.0], [2.0, 3.0]]),
    fit("X masked", f"KernelRidge needs all entries of X; {MISSING}", X=masked(X)),
    fit("X a column of a frame", "Expected a 2-dimensional container", ValueError, X=FRAME["age"]),
    fit("frame with text", "column 'height', row 0 holds 'tall'. Convert it", X=FRAME.assign(height="tall")),
    fit(
        "frame with dates", "column 'height', row 0 holds '1970-01-01...'. Count the days", X=FRAME.assign(height=DAYS)
    ),
    fit("frame with names of two kinds", "string names", TypeError, X=FRAME.rename(columns={"age": 0})),
    fit("one row to choose alpha", "two rows or more to choose alpha; n_samples = 1. Give a number", X=X[:1], y=Y[:1]),
    fit(
        "one row to choose a lengthscale",
        "KernelRidge needs two rows or more to choose the lengthscale; n_samples = 1. Give a number for it.",
        X=X[:1],
        y=Y[:1],
        alpha=1.0,
        lengthscale="loo",
    ),
    fit(
        "X that overflows",
        f"KernelRidge needs values of the kernel with finite sums; polynomial(degree=3, offset=1.0) {OVERFLOW}",
        X=1e200 * X,
        kernel=Polynomial(3),
    ),
    fit("features that overflow", f"with finite sums; linear {OVERFLOW}", X=1e200 * X, kernel=Linear(), alpha=1.0),
    fit("X too far for a median", "rows with finite squared distances; got numbers up to ...e+200. Scale", X=1e200 * X),
    fit(
        "X that vanishes", "do not vanish, to choose alpha; those of linear add up to 0.", X=1e-200 * X, kernel="linear"
    ),
    fit("X nearly vanishing", "those of linear add up to ...e-199. Scale the data up", X=1e-100 * X, kernel="linear"),
]

TARGETS = [
    fit("y is None", "requires y to be passed, but the target y is None", ValueError, y=None),
    fit("y is a dict", f"KernelRidge needs an array for y; got {{'a': 1}}. {TABLE}", y={"a": 1}),
    fit("y is a number", f"KernelRidge needs an array for y; got 3.0. {TABLE}", y=3.0),
    fit("y too short", "inconsistent numbers of samples: [12, 5]", ValueError, y=Y[:5]),
    fit("y with outputs as rows", "inconsistent numbers of samples: [12, 2]", ValueError, y=TWO.T),
    fit("y of three dimensions", "Found array with dim 3", ValueError, y=Y[:, None, None]),
    fit("y empty", "0 sample(s)", ValueError, y=[]),
    fit("y without columns", "Found array with 0 feature(s) (shape=(12, 0))", ValueError, y=TWO[:, :0]),
    fit("y of words", "KernelRidge needs numbers for y; row 0 holds '...'. Convert...KernelRidgeClassifier.", y=LABELS),
    fit("y of numbers as text", "KernelRidge needs numbers for y; row 0 holds '...'. Convert it", y=Y.astype(str)),
    fit("y of categories", "needs numbers for y; row 0 holds", y=pd.Series(LABELS).astype("category")),
    fit("y of dates", "KernelRidge needs numbers for y; row 0 holds '1970-01-01'. Count the days", y=DAYS),
    fit("y with NaN", "Input y contains NaN", ValueError, y=but(Y, 1, np.nan)),
    fit("y with infinity", "Input y contains infinity", ValueError, y=but(Y, 1, np.inf)),
    fit("y of complex numbers", "Complex data not supported", ValueError, y=Y + 1j),
    fit("y masked", f"KernelRidge needs all entries of y; {MISSING}", y=masked(Y)),
    fit("y ragged", f"KernelRidge needs an array for y; {RAGGED}", y=[[1.0], [2.0, 3.0]]),
    fit("y sparse", "Sparse data was passed", TypeError, y=csr_array(TWO)),
    fit("y too large", "targets with squares that float64 can hold; got numbers up to ...e+200. Scale y.", y=1e200 * Y),
    fit(
        "y too small", "targets with squares that float64 can hold; got numbers up to ...e-200. Scale y.", y=1e-200 * Y
    ),
    fit("one output too small", "got numbers up to ...e-200. Scale y.", y=TWO * [1.0, 1e-200]),
    fit(
        "y beyond float32", "float32 can hold, as X is float32; got numbers up to ...e+60", X=X.astype("f"), y=1e60 * Y
    ),
    classify("labels are None", "requires y to be passed", ValueError, y=None),
    classify("labels continuous", "Unknown label type: continuous", ValueError, y=Y),
    classify("labels in two columns", "y should be a 1d array, got an array of shape (12, 2)", ValueError, y=TWO),
    classify("labels too few", "inconsistent numbers of samples: [12, 5]", ValueError, y=LABELS[:5]),
    classify("labels with NaN", "Input y contains NaN", ValueError, y=but(Y > 0, 0, 1) * but(np.ones(N), 1, np.nan)),
    classify(
        "labels with None", "labels that are all text...; row 1 holds None... Drop", y=but(LABELS.astype("O"), 1, None)
    ),
    classify(
        "labels of two kinds", "labels that are all text...; row 1 holds 3... Drop", y=but(LABELS.astype("O"), 1, 3)
    ),
    classify("labels masked", f"KernelRidgeClassifier needs all entries of y; {MISSING}", y=masked(LABELS)),
    classify("one class", "two classes or more; there is one class, 'a'. Check y", y=np.full(N, "a")),
    classify("one class of weight", "there is one class, 'off'", sample_weight=(LABELS == "off").astype(float)),
]

WEIGHTS = [
    fit("too few weights", "one sample_weight a row, 12 in all; got an array of shape (2,).", sample_weight=[1, 2]),
    fit("weights in a column", "got an array of shape (12, 1). Give a flat array.", sample_weight=np.ones((N, 1))),
    fit("negative weight", f"{WEIGHT}that of row 1 is -1.0. Weights say", sample_weight=but(np.ones(N), 1, -1)),
    fit("weight NaN", f"{WEIGHT}that of row 1 is nan. Weights", sample_weight=but(np.ones(N), 1, np.nan)),
    fit("weight infinite", f"{WEIGHT}that of row 1 is inf. Weights", sample_weight=but(np.ones(N), 1, np.inf)),
    fit("weights all zero", "positive weight; all are zero. Leave sample_weight out.", sample_weight=np.zeros(N)),
    fit(
        "weights as a word",
        "numbers for sample_weight; got 'balanced'. Give one number per row.",
        sample_weight="balanced",
    ),
    fit("weights as text", "numbers for sample_weight; got an array of dtype <U1.", sample_weight=np.full(N, "1")),
    fit(
        "weights complex", "numbers for sample_weight; got an array of dtype complex128", sample_weight=np.ones(N) + 0j
    ),
    fit(
        "weights masked", f"KernelRidge needs all entries of sample_weight; {MISSING}", sample_weight=masked(np.ones(N))
    ),
    fit("weights ragged", f"KernelRidge needs an array for sample_weight; {RAGGED}", sample_weight=[[1], [1, 2]]),
    fit(
        "weights too large",
        "a sum from 1e-100 to 1e+100; that of sample_weight is inf.",
        sample_weight=np.full(N, 1e308),
    ),
    fit("weights too small", "that of sample_weight is 1.2e-199. Divide them", sample_weight=np.full(N, 1e-200)),
    classify(
        "class unknown", "classes of y in class_weight; 'of' is none of them, and 'off'...", class_weight={"of": 2}
    ),
    classify("class misspelt", "'On' is none of them, and 'on' has no weight.", class_weight={"On": 2, "off": 1}),
    classify("class weight negative", f"{CLASSES}that of 'on' is -1. Weights say", class_weight={"on": -1}),
    classify("class weight NaN", f"{CLASSES}that of 'on' is nan. Weights say", class_weight={"on": np.nan}),
    classify("class weight as text", f"{CLASSES}that of 'on' is '2'. Weights say", class_weight={"on": "2"}),
    classify("class weights as a word", "class_weight; got 'even'. Write {label: weight, ...", class_weight="even"),
    classify("class weights as a list", "class_weight; got [1, 2]. Write {label:", class_weight=[1, 2]),
    classify("class weights all zero", "all are zero. Leave class_weight out.", class_weight={"on": 0, "off": 0}),
    classify("class weight leaves one class", "there is one class, 'off'. Check y", class_weight={"on": 0}),
    classify("class weight too large", "that of class_weight is inf. Divide", class_weight={"on": 1e308}),
]

PENALTIES = [
    fit("alpha negative", f'{ALPHA}got -1. Use 1.0, or "auto".', alpha=-1),
    fit("alpha NaN", f"{ALPHA}got nan. Use 1.0", alpha=np.nan),
    fit("alpha infinite", f"{ALPHA}got inf. Use 1.0", alpha=np.inf),
    fit(
        "alpha a word",
        'KernelRidge needs a number, an array or "auto" for alpha; got \'big\'. Use "auto".',
        alpha="big",
    ),
    fit("alpha a number as text", "for alpha; got '1.0'. Use", alpha="1.0"),
    fit("alpha None", f"{ALPHA}got None. Use 1.0", alpha=None),
    fit("alpha True", f"{ALPHA}got True. Use 1.0", alpha=True),
    fit("alpha complex", f"{ALPHA}got 1j. Use 1.0", alpha=1j),
    fit("alpha a fraction", f"{ALPHA}got Fraction(1, 2). Use 1.0", alpha=Fraction(1, 2)),
    fit("alpha beyond float64", f"{ALPHA}got something of type int. Use 1.0", alpha=10**400),
    fit("alpha a function", f"{ALPHA}got <built-in function len>. Use 1.0", alpha=len),
    fit("no candidates", "one dimension of numbers for alpha; got an array of shape (0,). Give one number", alpha=[]),
    fit("candidates in two dimensions", "got an array of shape (1, 2). Give one number, one per", alpha=[[1.0, 2.0]]),
    fit("candidates as text", f"{ALPHA}got ['1', '2']. Use 1.0", alpha=["1", "2"]),
    fit("candidates ragged", f"KernelRidge needs an array for alpha; {RAGGED}", alpha=[[1.0], [1.0, 2.0]]),
    fit("candidate negative", f"{ALPHA}got -2.0. Use 1.0", alpha=[1.0, -2.0]),
    fit("candidates of booleans", f"{ALPHA}got [True, False]. Use 1.0", alpha=[True, False]),
    fit("candidates masked", f"KernelRidge needs all entries of alpha; {MISSING}", alpha=masked([1.0, 2.0])),
    fit("one of an output negative", f"{ALPHA}got -2.0. Use 1.0", y=TWO, alpha=[1.0, -2.0]),
    fit("one of an output a word", f"{ALPHA}got [1, 'auto']. Use 1.0", y=TWO, alpha=[1, "auto"]),
]

KERNELS = [
    fit("kernel a number", f"{KERNEL}got 3.0. Write KernelRidge(alpha=3.0), say", KernelError, kernel=3.0),
    fit("kernel None", f"{KERNEL}got None. Write Gaussian(), or \"gaussian('median')\".", KernelError, kernel=None),
    fit("kernel a class", f"{KERNEL}got <class '...Gaussian'>. Write Gaussian(), with", KernelError, kernel=Gaussian),
    fit("kernel a function of one thing", "len() takes exactly one argument (2 given)", TypeError, kernel=len),
    fit("kernel a class", f"{KERNEL}got <class 'set'>. Write Gaussian()", KernelError, kernel=set),
    fit(
        "kernel a matrix", f"{KERNEL}got an array of shape (12, 12)... Use kernel='precomputed'", KernelError, kernel=K
    ),
    fit("kernel a list", f"{KERNEL}got [Linear()]. Write Gaussian()", KernelError, kernel=[Linear()]),
    fit("precomputed misspelt", f"{KERNEL}got 'Precomputed'. Write 'precomputed'.", KernelError, kernel="Precomputed"),
    fit(
        "kernel unknown",
        "There is no kernel 'xyz'. Known: linear, polynomial, gaussian, ...\n  xyz\n  ^^^",
        ParseError,
        kernel="xyz",
    ),
    fit(
        "kernel misspelt",
        "Did you mean 'gaussian'? (at position 9).\n  linear + gausian(1)\n           ^^^^^^^",
        ParseError,
        kernel="linear + gausian(1)",
    ),
    fit("kernel of nothing", "A kernel is needed; got nothing", ParseError, kernel=""),
    fit(
        "kernel with a bad number", "Gaussian needs a positive lengthscale; got -1.", ParseError, kernel="gaussian(-1)"
    ),
    fit("kernel of code", "There is no kernel '__import__'", ParseError, kernel="__import__('os')"),
    fit(
        "not a kernel",
        "KernelRidge with sigmoid(slope=1.0, offset=1.0) needs a positive semi-definite matrix of similarities; "
        "K is indefinite: smallest eigenvalue -..., largest ... mercer.repair(K) makes it so",
        X=3 * X,
        kernel="sigmoid(slope=1, offset=1)",
    ),
    fit(
        "not a kernel in four columns",
        "Sinc needs at most 3 columns to be a kernel; the data has 4. Choose columns with on(), or use",
        DomainError,
        X=np.c_[X, Y],
        kernel="sinc(1) + linear",
    ),
    fit(
        "outside the domain",
        "Min needs non-negative coordinates; column 1 holds -0.5. Shift",
        DomainError,
        kernel=Min(),
    ),
    fit(
        "sparse for coordinates", "Min needs a dense table; got a sparse csr_array.", X=csr_array(abs(X)), kernel=Min()
    ),
    fit("sparse for a lift", "Sparse data was passed", TypeError, X=csr_array(X), kernel=Trigonometric(2)),
    fit(
        "columns without names",
        "on needs a column named 'age'; the data has no column names.",
        kernel=Linear().on("age"),
    ),
    fit("name misspelt", "a column named 'Age'; the columns are 'age',", X=FRAME, kernel=Linear().on("Age")),
    fit("column that is not there", "on needs column 7; the data has 3 columns.", kernel=Linear().on(7)),
    fit("text in a named column", "column 'age' holds 'old'", X=FRAME.assign(age="old"), kernel=Linear().on("age")),
    fit("scales of another width", "scaled needs data of 2 columns; the data has 3.", kernel=Gaussian().scaled([1, 2])),
    precomputed("similarities not square", "as many rows as columns...; got 12 rows and 3 columns.", X),
    precomputed("rows left out of no square", "got 3 rows and 12 columns.", K[:3], y=Y[:3], sample_weight=[0, 1, 1]),
    precomputed("similarities indefinite", "smallest eigenvalue -..., largest ...mercer.repair(K)", INDEFINITE),
    precomputed("indefinite with a penalty", "K is indefinite: smallest eigenvalue -", INDEFINITE, alpha=100.0),
    precomputed("distances", "Or are these distances D? np.exp(-D**2 / 2) is a kernel", np.sqrt(-np.log(K))),
    precomputed("diagonal negative", "without negative numbers; K[2, 2] is -1.0. k(x, x) is", but(K, (2, 2), -1.0)),
    precomputed("similarities with NaN", "Input X contains NaN", but(K, (0, 1), np.nan), ValueError),
    precomputed("similarities complex", "Complex data not supported", K + 1j, ValueError),
    precomputed("similarities as text", "numbers for X; column 0, row 0 holds '1.0'. Convert", K.astype(str)),
    precomputed("similarities masked", f"KernelRidge needs all entries of X; {MISSING}", masked(K)),
    precomputed("similarities sparse", "got a sparse csr_array. Use K.toarray()", csr_array(K)),
    precomputed("similarities that overflow", f"the precomputed matrix {OVERFLOW}", 1e308 * K),
]

SETTINGS = [
    fit("lengthscale zero", f'{LENGTH}got 0. Use "median", the default.', lengthscale=0),
    fit("lengthscale negative", f"{LENGTH}got -1.0. Use", lengthscale=-1.0),
    fit("lengthscale NaN", f"{LENGTH}got nan. Use", lengthscale=np.nan),
    fit("lengthscale a word", f"{LENGTH}got 'mean'. Use", lengthscale="mean"),
    fit("lengthscale None", f"{LENGTH}got None. Use", lengthscale=None),
    fit("lengthscale True", f"{LENGTH}got True. Use", lengthscale=True),
    fit("one lengthscale per column", f"{LENGTH}got [1, 2, 3]. Use", lengthscale=[1, 2, 3]),
    fit("lengthscale beyond float64", f"{LENGTH}got something of type int. Use", lengthscale=10**400),
    fit("no lengthscale to choose", 'for lengthscale="loo"; linear has none. Use', kernel="linear", lengthscale="loo"),
    fit("no lengthscale to set", "for lengthscale=2.0; linear has none. Use", kernel="linear", lengthscale=2),
    fit(
        "lengthscale stated twice",
        "an open lengthscale for lengthscale=2.0; gaussian(lengthscale=1.0) has none. Write lengthscale='median' in",
        kernel=Gaussian(1.0),
        lengthscale=2.0,
    ),
    fit("lengthscale of a lift", "Nystrom is a lift. Use", kernel=Nystrom("gaussian('median')", 5), lengthscale=2.0),
    precomputed("lengthscale of a matrix", "lengthscale='loo'; the kernel is precomputed. Use", K, lengthscale="loo"),
    fit("memory_limit a word", "A memory budget needs a positive number of bytes", memory_limit="lots"),
    fit("memory_limit of zero", "A memory budget needs a positive number of bytes", memory_limit=0),
    fit("time_limit below zero", f"{TIME}got -1. Use 60, say.", time_limit=-1),
    fit("time_limit a word", f"{TIME}got 'long'. Use 60, say.", time_limit="long"),
    fit("on_interrupt", "KernelRidge needs on_interrupt that is...; got 'stop'", on_interrupt="stop"),
    fit("verbose", "KernelRidge needs verbose that is True, False or...; got 3", verbose=3),
    fit("checkpoint a number", "KernelRidge needs the path of a file, or None, for checkpoint; got 3", checkpoint=3),
    fit("checkpoint in no folder", "nowhere does not exist. Create it, or choose another.", checkpoint="nowhere/a"),
    fit("solver a word", f"{SOLVER}got 'cholesky'. Use Cholesky(), say.", solver="cholesky"),
    fit("solver a word for descent", f"{SOLVER}got 'gd'. Use GradientDescent(), say.", solver="gd"),
    fit("solver a class", f"{SOLVER}got <class '...Cholesky'>. Use Cholesky(), say.", solver=Cholesky),
    fit("solver None", f"{SOLVER}got None. Use Cholesky()", solver=None),
    fit(
        "solver that takes one alpha", 'got alpha="auto", and GradientDescent solves for one', solver=GradientDescent()
    ),
    fit("one alpha of a list", "got 2 candidates, and Cholesky solves for one. Give", alpha=[1, 2], solver=Cholesky()),
    fit("one alpha of an array", "got 2 candidates, and Cholesky", alpha=np.array([1.0, 2.0]), solver=Cholesky()),
    fit(
        "one alpha, many lengths",
        "Cholesky() solves for one...Use Eigen()",
        alpha=1.0,
        lengthscale="loo",
        solver=Cholesky(),
    ),
    fit(
        "no rows left",
        "KernelRidge needs rows to fit; all are held out. Give more rows, or validation=0.",
        X=X[:1],
        y=Y[:1],
        alpha=1.0,
        solver=GradientDescent(validation=0.9),
    ),
    fit("intercept a word", "True or False for fit_intercept; got 'yes'. Use True.", fit_intercept="yes"),
    fit("intercept None", "KernelRidge needs True or False for fit_intercept; got None.", fit_intercept=None),
    fit("intercept a number", "KernelRidge needs True or False for fit_intercept; got 2.", fit_intercept=2),
]

BAD_FITS = TABLES + TARGETS + WEIGHTS + PENALTIES + KERNELS + SETTINGS
