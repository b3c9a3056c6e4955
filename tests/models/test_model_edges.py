"""Limits of model files at their very edge: the last value that is taken, and the first that is not."""

import json
import struct
from typing import Any, Literal

import numpy as np
import pytest
from models import forge
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer.errors import ModelFileError
from mercer.kernels import Graph
from mercer.lifts import Sketch
from mercer.models import inspect, load, reading, save, texts
from mercer.models.describe import MAX_SHOWN_LETTERS as SHOWN
from mercer.models.describe import _short
from mercer.models.encode import _plain
from mercer.models.strict_json import strict_json
from mercer.models.structured import MAX_NODES, Graphs, Labels, Lists
from mercer.models.texts import TextArray, Texts
from mercer.models.types import fits


def refused(words):
    return pytest.raises(ModelFileError, match=words)


# -- numbers and JSON --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [-(2**63), -1, 0, 2**64 - 1])
def test_whole_numbers_of_64_bits(number):
    assert _plain(number) == number
    assert strict_json(str(number), "record") == number


@pytest.mark.parametrize("number", [-(2**63) - 1, 2**64])
def test_larger_ones_are_not_written(number):
    with refused("integers of 64 bits"):
        _plain(number)


def test_truths_and_texts_are_plain():
    assert _plain(True) is True
    assert _plain("é") == "é"
    with refused("texts that UTF-8 can hold"):
        _plain("\ud800")


def test_json_of_strangers():
    assert strict_json("1" * 20, "record") == int("1" * 20)
    with refused("got one of 21 letters"):
        strict_json("1" * 21, "record")
    deepest = "[" * 32 + "]" * 32
    assert strict_json(deepest, "record") == json.loads(deepest)
    with refused("at most 32 levels in its record; it nests deeper at letter 32"):
        strict_json("[" + deepest + "]", "record")
    many = "[" + ",".join(["[{}]"] * 100) + "]"  # what closes gives its level back
    assert strict_json(many, "record") == json.loads(many)
    assert strict_json(r'"[[[[\"' + "[" * 40 + '"', "record") == '[[[["' + "[" * 40  # in a text nothing opens
    assert strict_json("[1.5e308, -0.0]", "record") == [1.5e308, 0.0]
    for text, words in [
        ("1e309", "float64 holds"),
        ("-Infinity", "numbers of JSON"),
        ('{"a":1,"a":1}', "stands twice"),
    ]:
        with refused(words):
            strict_json(text, "record")
    with refused("JSON in its header; that breaks off at letter 1"):
        strict_json("[", "header")


def test_what_is_shown_is_short_and_printable():
    assert _short("a" * SHOWN) == "a" * SHOWN
    assert _short("a" * (SHOWN + 1)) == "a" * SHOWN + "..."
    assert _short("a\n\x1b[31mé") == r"a\n\x1b[31mé"


# -- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [[], [""], ["a", "", "é😀", "b"], [b"\0\xff", b""], ["x"] * 5000], ids=len)
def test_texts_come_back(items):
    packed = Texts.of(items)
    assert list(packed.items()) == items
    assert len(packed) == len(items)
    assert packed.plain == (bool(items) and isinstance(items[0], bytes))


def array(*numbers):
    return np.array(numbers, np.int64)


LETTERS = np.frombuffer(b"abc", np.uint8)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (array(1, 2), "do not rise to 3"),
        (array(1, 4), "do not rise to 3"),
        (array(2, 1, 3), "do not rise to 3"),
        (array(-1, 3), "do not rise to 3"),
        (array(), "do not rise to 3"),
        (array([3]), "flat tensors"),
    ],
)
def test_ends_that_do_not_rise(ends, words):
    with refused(words):
        list(Texts(LETTERS, ends).items())


def test_ends_that_rise():
    assert list(Texts(LETTERS, array(0, 0, 3, 3)).items()) == ["", "", "abc", ""]
    with refused("flat tensors"):
        list(Texts(LETTERS[None], array(3)).items())


def test_the_longest_text(monkeypatch):
    monkeypatch.setattr(texts, "MAX_TEXT_BYTES", 4)
    assert list(Texts.of(["abcd", "é" * 2]).items()) == ["abcd", "éé"]
    with refused("texts of at most 4 bytes; one has 5"):
        list(Texts.of(["a", "abcde"]).items())
    with refused("one has 5"):
        list(Texts.of(["abcde"]).items())


@pytest.mark.parametrize("shape", [(4,), (2, 2), (0,), (1, 0, 3)])
@pytest.mark.parametrize("dtype", ["<U3", object])
def test_arrays_of_texts_come_back(shape, dtype):
    given = np.array(["a", "", "éé", "abc"][: int(np.prod(shape))], dtype=dtype).reshape(shape)
    found = TextArray.of(given).array()
    assert (found.dtype, found.shape) == (given.dtype, given.shape)
    np.testing.assert_array_equal(found, given)


def test_arrays_of_texts_that_lie(monkeypatch):
    packed = Texts.of(["ab", "c"])
    for shape in [(3,), (-1, -2), (2, 2), ()]:
        with refused("as many texts as an array has; got 2"):
            TextArray(packed, shape, None).array()
    with refused("as many texts"):
        TextArray(Texts.of([b"ab", b"c"]), (2,), None).array()
    with refused("of width 1"):
        TextArray(packed, (2,), 1).array()
    assert TextArray(packed, (2,), 2).array().dtype == "<U2"
    monkeypatch.setattr(texts, "MAX_FIXED_WIDTH_BYTES", 24)
    assert TextArray(packed, (2,), 3).array().dtype == "<U3"  # 4 bytes for each of 3 letters, twice
    with refused("fixed width in 24 bytes; got 2 of width 4"):
        TextArray(packed, (2,), 4).array()
    nothing = Texts.of([])
    assert TextArray(nothing, (0,), 24).array().dtype == "<U24"
    assert TextArray(nothing, (0,), 0).array().dtype == "<U1"
    with refused("of width 25"):
        TextArray(nothing, (0,), 25).array()


def test_arrays_of_other_things_are_refused():
    with refused("arrays of numbers or of texts; one holds 3"):
        TextArray.of(np.array(["a", 3], dtype=object))


# -- labels and lists -------------------------------------------------------------------------------------------------


def test_labels_come_back():
    given = ["a", None, "", "é"]
    assert Labels.of(given).items() == given
    for labels in (Labels(Texts.of(["a"]), np.zeros(2, bool)), Labels(Texts.of([b"a"]), np.zeros(1, bool))):
        with refused("as many booleans as labels"):
            labels.items()


NUMBERS = [(1, 2**63 - 1, -(2**63) + 1), (), (0,)]


@pytest.mark.parametrize("lists", [[("a", "b"), None, (), ("c",)], NUMBERS, [None], []], ids=str)
def test_lists_come_back(lists):
    assert list(Lists.of(lists).items()) == lists


@pytest.mark.parametrize("odd", [2**63, -(2**63), True, 1.0, None])
def test_lists_of_other_things_are_refused(odd):
    with refused("all texts, or all integers"):
        Lists.of([(1, 2), (odd,)])


def test_lists_of_texts_and_numbers_are_refused():
    with refused("all texts, or all integers; got 'b'"):
        Lists.of([(1, "b")])


@pytest.mark.parametrize("counts", [array(2), array(4), array(4, -1), array(3, -2), array([3]), array(-1, -1)])
def test_counts_that_do_not_hold_all_members(counts):
    for members in (array(1, 2, 3), Texts.of(["a", "b", "c"])):
        with refused("lists that hold all members"):
            list(Lists(members, counts).items())
    assert len(Lists(array(1, 2, 3), counts)) == counts.size + 3
    assert len(Lists(Texts.of(["a", "b", "c"]), counts)) == counts.size + 3


# -- whole files ------------------------------------------------------------------------------------------------------

X = np.arange(12.0).reshape(6, 2)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.mercer"
    save(KernelRidge("gaussian(2.0)", alpha=0.5).fit(X, X[:, 0]), found)
    return found


def test_what_is_told_of_a_file(path):
    about = inspect(path)
    assert about.settings["alpha"] == "0.5"
    assert about.settings["kernel"] in ("'gaussian(2.0)'", "gaussian(2.0)")
    assert "dual_coef_" not in about.settings
    assert not set(about.settings) & set(about.learned)
    assert None not in about.settings.values()
    assert "\n  alpha: 0.5" in str(about)
    assert (about.model, about.bytes) == ("KernelRidge", path.stat().st_size)


@pytest.mark.parametrize("piece", [1, 7, 16, 1 << 20])
def test_a_file_is_looked_through_piece_by_piece(path, piece, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_BYTES", piece)
    raw = path.read_bytes()
    assert inspect(path).tensors > 0
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with refused("the content that its SHA-256 names"):
        inspect(path)


def test_wide_numbers_come_first_so_that_all_are_aligned(tmp_path):
    path = tmp_path / "words.mercer"
    model = KernelRidge("gaussian(2.0)", alpha=0.5).fit(X.astype(np.float32), X[:, 0])
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    save(model, path)
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__")
    widths = [forge.SIZES[entry["dtype"]] for entry in header.values()]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) > 1
    assert (8 + length) % 8 == 0
    np.testing.assert_array_equal(load(path).dual_coef_, model.dual_coef_)


class Piece:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"n_features_in_": 4}, "got 9 features of 3 columns"),
        ({"counts_": (), "n_components_": 0}, "got 0 features of 3 columns"),
        ({"counts_": (-1, 10)}, "got 9 features of 3 columns"),
        ({"counts_": (0, 9)}, ""),
        ({"n_components_": 8}, "got 8 features of 3 columns"),
        ({"parts_": {0: Piece(width=3)}}, "a part of degree 0 has 3 columns"),
        ({"parts_": {2: Piece(width=3)}}, "a part of degree 2 has 3 columns"),
        ({"parts_": {1: Piece(width=4)}}, "a part of degree 1 has 4 columns"),
    ],
    ids=["good", "columns", "none", "below 0", "at 0", "sum", "degree 0", "degree 2", "width"],
)
def test_parts_of_a_sketch(changes, words):
    good = {"n_features_in_": 3, "counts_": (1, 8), "n_components_": 9, "parts_": {1: Piece(width=3)}}
    division = Piece(axis=Piece(tail=np.zeros(3)))
    assert Sketch._inconsistency(Piece(_division=division, **good | changes)) == words


# -- graphs and types -------------------------------------------------------------------------------------------------


def graphs(**changes):
    nothing = Lists.of([None, None])
    given = {"nodes": array(2, 3), "edges": array([0, 1], [1, 2]), "counts": array(1, 1)}
    return Graphs(**{**given, "labels": nothing, "edge_labels": nothing, **changes})


def test_graphs_come_back():
    first, second = graphs().items()
    assert (first.nodes, second.nodes) == (2, 3)
    assert (first.edges.tolist(), second.edges.tolist()) == ([[0, 1]], [[1, 2]])
    named = [Graph(2, [[0, 1]], ["a", "b"], ["e"]), Graph(3, [[0, 1], [1, 2]]), Graph(1, np.empty((0, 2), int), [7])]
    for some in (named[:2], named[1:]):
        assert list(Graphs.of(some).items()) == some


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": array(0, 1)}, "edges of two nodes"),
        ({"edges": array([0, 1, 2], [1, 2, 0])}, "edges of two nodes"),
        ({"counts": array([1], [1])}, "edges of two nodes"),
        ({"nodes": array(2)}, "edges of two nodes"),
        ({"counts": array(1, 2)}, "graphs that hold all edges"),
        ({"counts": array(3, -1)}, "graphs that hold all edges"),
        ({"counts": array(1, 0)}, "graphs that hold all edges"),
        ({"labels": Lists.of([None])}, "labels for every graph"),
        ({"edge_labels": Lists.of([None] * 3)}, "labels for every graph"),
        ({"nodes": array(2, MAX_NODES + 1)}, "graphs of at most"),
    ],
    ids=["flat", "threes", "square counts", "one node", "more", "negative", "fewer", "labels", "edge labels", "large"],
)
def test_graphs_that_lie(changes, words):
    with refused(words):
        list(graphs(**changes).items())


@pytest.mark.parametrize(
    ("value", "hint", "good"),
    [
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        ({1: 1}, dict[str, int], False),
        ([("a", 1)], dict[str, int], False),
        ((1, 2, 3), tuple[int, ...], True),
        ((1, "2"), tuple[int, ...], False),
        ((1, "2"), tuple[int, str], True),
        ((1, "2", 3), tuple[int, str], False),
        ([1, 2], tuple[int, ...], False),
        ([1, 2], list[int], True),
        ([1, "2"], list[int], False),
        ((1, 2), list[int], False),
        (1, Literal[1, "a"], True),
        (True, Literal[1, "a"], False),
        ("b", Literal[1, "a"], False),
        (None, int | None, True),
        ("a", int | None, False),
        (np.zeros(2), NDArray[np.float64], True),
        (np.zeros(2, np.float32), NDArray[np.float64], False),
        (np.zeros(2, np.float32), NDArray[np.floating[Any]], True),
        (np.zeros(2, np.int64), NDArray[np.floating[Any]], False),
        (np.zeros(2, np.int64), NDArray[Any], True),
        ([0.0], NDArray[Any], False),
        (np.dtype(float), np.dtype[Any], True),
        (float, np.dtype[Any], False),
        (np.float64, type[np.generic], True),
        (float, type[np.generic], False),
        (1.0, type[np.generic], False),
    ],
)
def test_what_fits_a_type(value, hint, good):
    assert fits(value, hint) is good
