"""Kernels that have learned many words come back from files, and files that lie about words are refused."""

import time

import numpy as np
import pytest

import mercer
from mercer.errors import ModelFileError
from mercer.kernels import BagOfWords, Gaussian
from mercer.models import kernel_strings
from mercer.models.texts import Texts


def texts(count, words, each, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{k}" for k in rng.integers(0, words, each)) for _ in range(count)]


@pytest.mark.parametrize("kernel", [
    BagOfWords(weights="idf").normalized(),
    BagOfWords(weights="idf") * 2.0 + BagOfWords((1, 2), weights="idf").normalized(),
])  # fmt: skip
def test_any_vocabulary_is_saved(tmp_path, kernel):
    X, y = texts(400, 20_000, 40), np.random.default_rng(1).normal(size=400)
    model = mercer.KernelRidge(kernel, alpha=1.0).fit(X, y)
    path = tmp_path / "m.mercer"
    mercer.save(model, path)
    start = time.perf_counter()
    loaded = mercer.load(path)
    assert time.perf_counter() - start < 10
    assert loaded.kernel_ == model.kernel_
    assert len(str(model.kernel_)) > kernel_strings.MAX_KERNEL_LETTERS
    assert (loaded.predict(X[:50]) == model.predict(X[:50])).all()
    mercer.save(loaded, tmp_path / "again.mercer")
    assert (tmp_path / "again.mercer").read_bytes() == path.read_bytes()


def test_runs_of_tokens_come_back_too(tmp_path):
    X = [text.split() for text in texts(60, 500, 20)]
    model = mercer.KernelRidge(BagOfWords(2, weights="idf"), alpha=1.0).fit(X, np.arange(60.0))
    mercer.save(model, tmp_path / "m.mercer")
    assert mercer.load(tmp_path / "m.mercer").kernel_ == model.kernel_


def test_few_words_stand_in_the_text():
    kernel = BagOfWords(weights="idf").resolve(["a rose", "is a rose"])
    assert kernel_strings.written(kernel, lambda words: pytest.fail("there are few")) == {"kernel": str(kernel)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gaussian(lengthscale=1.0)", [kernel_strings.Words.of((("a", 1.0),))]),
        ("bag_of_words(weights='idf', documents=2.0)", [kernel_strings.Words.of((("a", 1.0),))] * 2),
        ("bag_of_words(weights='idf', documents=2.0)", [Gaussian(1.0)]),
        ("bag_of_words(weights='idf', documents=2.0)", [kernel_strings.Words(Texts.of(["a", "b"]), np.ones(1))]),
        ("bag_of_words(weights='idf', documents=2.0)", [kernel_strings.Words(Texts.of([b"a"]), np.ones(1))]),
        ("bag_of_words(weights='idf', documents=2.0)", [kernel_strings.Words(Texts.of(["a"]), -np.ones(1))]),
    ],
    ids=["no words", "too many", "another thing", "numbers missing", "bytes", "negative"],
)
def test_words_that_make_no_sense_are_refused(text, words):
    with pytest.raises(ModelFileError):
        kernel_strings.read({"kernel": text}, {}, 100, words)
