"""Files that are damaged, foreign or meant to do harm: each is refused in one type of error, in words that tell why."""

import json
import os
import pickle
import struct

import numpy as np
import pytest
from models import forge
from models import model_zoo as zoo

from mercer.errors import MercerError, ModelFileError
from mercer.kernels import Kernel
from mercer.models import inspect, load, save
from mercer.models.kernel_strings import MAX_KERNELS


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """The bytes of a small whole file."""
    path = tmp_path_factory.mktemp("raw") / "model.mercer"
    save(zoo.fitted("svc, words")[0], path)
    return path.read_bytes()


@pytest.fixture
def refused(tmp_path):
    """Whether a file is refused, and in these words."""

    def check(content, words, inspected=False):
        path = tmp_path / "bad.mercer"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=words):
            load(path)
        if inspected:
            with pytest.raises(ModelFileError, match=words):
                inspect(path)

    return check


def test_whole_files_are_read(raw, tmp_path):
    (tmp_path / "whole.mercer").write_bytes(forge.put_together(*forge.taken_apart(raw)))
    model, new = zoo.fitted("svc, words")
    np.testing.assert_array_equal(load(tmp_path / "whole.mercer").predict(new), model.predict(new))


# -- the container ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inspected", "count"), [(load, 10_000), (inspect, 1_000)])
def test_ten_thousand_bit_flips_are_detected(tmp_path, inspected, count):
    path, random = tmp_path / "flipped.mercer", np.random.default_rng(0)
    save(zoo.fitted_lift("Parabolic()")[0], path)
    raw = path.read_bytes()
    with path.open("w+b", buffering=0) as file:
        file.write(raw)
        for bit in random.integers(8 * len(raw), size=count).tolist():
            at, changed = bit // 8, raw[bit // 8] ^ 1 << bit % 8
            os.pwrite(file.fileno(), bytes([changed]), at)
            with pytest.raises(ModelFileError):
                inspected(path)
            os.pwrite(file.fileno(), raw[at : at + 1], at)
    inspected(path)


def test_truncated_and_longer_files(raw, refused):
    for size in [0, 1, 7, 8, 9, 100, 500, len(raw) // 2, len(raw) - 1]:
        refused(raw[:size], "A model file needs (at least a header|its whole header|tensors inside)", inspected=True)
    refused(raw + b"\0", "no bytes beyond its tensors", inspected=True)


def test_other_files(refused, tmp_path):
    refused(b"PK\3\4" + bytes(200), "header of at most 1,000,000 bytes", inspected=True)
    refused(b"", "at least a header; the file is empty", inspected=True)
    refused(pickle.dumps({"a": np.zeros(9)}), "it begins like a pickle, which Mercer never loads", inspected=True)
    refused(b"<!DOCTYPE html><html><title>404</title>", "it begins like a page of HTML", inspected=True)
    refused(struct.pack("<Q", 200) + b"{}" + bytes(300), "the opening of Mercer's files", inspected=True)
    refused(struct.pack("<Q", 10) + b"{}" + bytes(300), "at least a header", inspected=True)
    refused(struct.pack("<Q", 2**63) + bytes(300), "header of at most", inspected=True)
    for path, words in [
        (tmp_path, "a regular file"),
        (tmp_path / "none", "cannot: No such file"),
        ("/dev/zero", "regular"),
        ("a\0b", "a file that can be opened; .* cannot: embedded null"),
    ]:
        with pytest.raises(ModelFileError, match=words):
            load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="a regular file"):
        load(tmp_path / "pipe")  # and is not waited for


def test_headers_are_limited(raw, refused):
    record, tensors = forge.taken_apart(raw)
    refused(forge.put_together(json.dumps(record) + " " * 1_000_000, tensors), "header of at most 1,000,000", True)
    many = {str(i): ("U8", [0], b"") for i in range(4097)}
    refused(forge.put_together(record, many), "at most 4,096 tensors", inspected=True)
    deep = forge.put_together("[" * 40 + "]" * 40, tensors)
    refused(deep, "at most 32 levels in its record", inspected=True)
    metadata = {"metadata": lambda given: given.update(more="x")}
    refused(forge.put_together(record, tensors, **metadata), "the entries format, record", inspected=True)
    newer = {"metadata": lambda given: given.update(version="3")}
    refused(forge.put_together(record, tensors, **newer), "it is of version '3'. Install a newer Mercer", True)
    odd = {"metadata": lambda given: given.update(version=["1"])}
    refused(forge.put_together(record, tensors, **odd), r"it is of version \['1'\]. Install a newer Mercer", True)


DEEP = b'{"__metadata__":{"sha256":"' + b"0" * 64 + b'","x":' + b"[" * 60_000 + b"]" * 60_000 + b"}}"
TWICE = b'{"__metadata__":{"sha256":"' + b"0" * 64 + b'"},"a":1,"a":2}'
QUOTES = b'{"__metadata__":{"sha256":"' + b"0" * 64 + b'","x":"' + b'\\"' * 400_000 + b"\\"
HEADERS = [
    (DEEP, "at most 32 levels"),
    (TWICE, "'a' stands twice"),
    (QUOTES, "JSON in its header"),
    (
        DEEP.replace(b"[" * 60_000 + b"]" * 60_000, b"1" * 100_000),
        "integers of 64 bits; got one of 100000 letters",
    ),
    (DEEP.replace(b"[" * 60_000 + b"]" * 60_000, b"1e999"), "numbers that float64 holds"),
    (DEEP.replace(b"[" * 60_000 + b"]" * 60_000, b"NaN"), "numbers of JSON; got NaN"),
    (DEEP.replace(b"[" * 60_000 + b"]" * 60_000, b'"\xff"'), "a header in UTF-8"),
    (DEEP.replace(b"[" * 60_000 + b"]" * 60_000, b"1"), "the format 'mercer model'"),
]


@pytest.mark.parametrize(("header", "words"), HEADERS, ids=[words for _, words in HEADERS])
def test_bad_headers(header, words, refused):
    refused(forge.signed(header, b""), words, inspected=True)


def entry(**changes):
    """A change of the first entry of a header."""

    def change(entries):
        first = next(iter(entries))
        entries[first] = entries[first] | changes

    return {"entries": change}


LIES = {
    "shape beyond counting": (entry(shape=[2**40, 2**40]), "as many bytes as a shape takes"),
    "shape beyond memory": (entry(shape=[10**18]), "as many bytes as a shape takes"),
    "negative size": (entry(shape=[-1]), "a shape of at most 8 sizes"),
    "size that is a truth": (entry(shape=[True]), "a shape of at most 8 sizes"),
    "many axes": (entry(shape=[1] * 9), "a shape of at most 8 sizes"),
    "size that is a float": (entry(shape=[1.0]), "a shape of at most 8 sizes"),
    "shape that is a number": (entry(shape=3), "a shape of at most 8 sizes"),
    "unknown dtype": (entry(dtype="F8"), "a dtype among"),
    "dtype in a list": (entry(dtype=["F64"]), "a dtype among"),
    "one offset": (entry(data_offsets=[0]), "two offsets"),
    "negative offset": (entry(data_offsets=[-8, 0]), "two offsets"),
    "end before the beginning": (entry(data_offsets=[8, 0]), "as many bytes as a shape takes"),
    "gap": (entry(shape=[0], data_offsets=[8, 8]), "tensors one after the other"),
    "nothing where something is": (entry(shape=[0], data_offsets=[0, 0]), "tensors one after the other"),
    "beyond the end": (entry(shape=[10**9], dtype="U8", data_offsets=[0, 10**9]), "tensors inside of the file"),
    "unknown key": (entry(more=1), "dtype, shape and data_offsets"),
    "no content": ({"data": b""}, "tensors inside of the file"),
}


@pytest.mark.parametrize("lie", LIES)
def test_tensors_that_lie(lie, raw, refused):
    changes, words = LIES[lie]
    refused(forge.put_together(*forge.taken_apart(raw), **changes), words, inspected=True)


def test_tensors_do_not_overlap(raw, refused):
    def overlap(entries):
        first, second, *_ = entries
        entries[second] = entries[second] | {"data_offsets": entries[first]["data_offsets"]}

    record, tensors = forge.taken_apart(raw)
    refused(forge.put_together(record, tensors, entries=overlap), "one after the other|as many bytes", inspected=True)


# -- the record -------------------------------------------------------------------------------------------------------


def last(record):
    """The fields of the model itself."""
    return record["objects"][-1]["fields"]


def nested(depth):
    value = 1
    for _ in range(depth):
        value = {"tuple": [value]}
    return value


def shift_object(record):
    for one in record["objects"]:
        for name, value in one["fields"].items():
            if isinstance(value, dict) and "object" in value:
                one["fields"][name] = {"object": len(record["objects"]) - 1}


CHANGES = {
    "unknown entry": (
        lambda r: r["objects"][-1].update(entry="os.system"),
        "classes of Mercer's table; got 'os.system'",
    ),
    "entry of another type": (lambda r: r["objects"][-1].update(entry=["KernelSVC"]), "classes of Mercer's table"),
    "unknown field": (lambda r: last(r).update(__class__="x"), "known fields of KernelSVC; got '__class__'"),
    "dunder field": (lambda r: last(r).update(__dict__={"dict": []}), "known fields of KernelSVC"),
    "method": (lambda r: last(r).update(predict=1), "known fields of KernelSVC; got 'predict'"),
    "checkpoint": (lambda r: last(r).update(checkpoint="/etc/x"), "known fields of KernelSVC; got 'checkpoint'"),
    "missing field": (lambda r: last(r).pop("_model"), "all that a fitted KernelSVC has; _model is missing"),
    "wrong type": (lambda r: last(r).update(_precomputed=1), "KernelSVC._precomputed of its type"),
    "text for array": (lambda r: last(r).update(support_="1"), "KernelSVC.support_ of its type; got '1'"),
    "float array for whole": (lambda r: last(r).update(_gap=True), "KernelSVC._gap of its type"),
    "unknown kind of value": (lambda r: last(r).update(C={"code": "1"}), "values of a known kind"),
    "list": (lambda r: last(r).update(C=[1]), "values of a known kind"),
    "two kinds": (lambda r: last(r).update(C={"tuple": [], "list": []}), "values of a known kind"),
    "deep value": (lambda r: last(r).update(C=nested(20)), "at most 32 levels"),
    "tuple of no list": (lambda r: last(r).update(C={"tuple": 3}), "a list; got 3"),
    "odd float": (lambda r: last(r).update(C={"float": "1e5"}), "nan, inf or -inf"),
    "odd dtype": (lambda r: last(r).update(C={"dtype": "O"}), "a known dtype"),
    "number of another type": (
        lambda r: last(r).update(C={"number": "F64", "value": "1"}),
        "a number that float64 holds",
    ),
    "number too large": (lambda r: last(r).update(C={"number": "I8", "value": 300}), "a number that int8 holds"),
    "float too large": (lambda r: last(r).update(C={"number": "F32", "value": 1e300}), "a number that float32 holds"),
    "no tensor": (lambda r: last(r).update(support_={"array": 999}), "arrays that are among its tensors"),
    "tensor by text": (lambda r: last(r).update(support_={"array": "0"}), "arrays that are among its tensors"),
    "order": (lambda r: last(r)["support_"].update(order="C"), "arrays that are among its tensors"),
    "object ahead": (shift_object, "objects that stand before"),
    "negative object": (lambda r: last(r).update(_model={"object": -1}), "objects that stand before"),
    "object by truth": (lambda r: last(r).update(_model={"object": True}), "objects that stand before"),
    "another object": (lambda r: last(r).update(_model={"object": 0}), "KernelSVC._model of its type"),
    "dict of lists": (lambda r: last(r).update(C={"dict": [[1]]}), "pairs of keys and values"),
    "dict twice": (lambda r: last(r).update(C={"dict": [[1, 1], [1, 2]]}), "every key once"),
    "dict of odd keys": (lambda r: last(r).update(C={"dict": [[{"list": []}, 1]]}), "texts and numbers as keys"),
    "half letters": (lambda r: last(r).update(C="\ud800"), "whole letters in texts"),
    "another key": (lambda r: r.update(more=1), "a record of mercer and objects"),
    "no objects": (lambda r: r.update(objects=[]), "a version and a list of objects"),
    "objects of another type": (lambda r: r.update(objects={"0": 1}), "a version and a list of objects"),
    "object of another type": (lambda r: r["objects"].append(3), "an entry and fields of every object"),
    "object with more": (lambda r: r["objects"][-1].update(code=1), "an entry and fields of every object"),
    "a part as the model": (lambda r: r["objects"].pop(), "used|a model; a"),
    "kernel that is no text": (lambda r: last(r).update(kernel={"kernel": 1}), "a text for a kernel"),
    "kernel of no kernel": (
        lambda r: last(r).update(kernel={"kernel": "open('x')"}),
        "texts of kernels that can be read",
    ),
    "kernel by attributes": (
        lambda r: last(r).update(kernel={"kernel": "linear.__class__()"}),
        "texts of kernels that can be read",
    ),
    "long kernel": (lambda r: last(r).update(kernel={"kernel": "1" + "+1" * 60_000}), "at most 4,096 kernels"),
    "huge kernel": (lambda r: last(r).update(kernel={"kernel": " " * 140_000 + "1"}), "at most 131,072 letters"),
    "deep kernel": (lambda r: last(r).update(kernel={"kernel": "(" * 900 + "1" + ")" * 900}), "that can be read"),
    "classes of another type": (
        lambda r: last(r).update(kernel={"kernel": "linear", "classes": 3}),
        "a text for a kernel",
    ),
    "class that is not given": (
        lambda r: last(r).update(kernel={"kernel": "linear", "classes": ["linear"]}),
        "uses a kernel called 'linear'",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_bad_records(name, raw, refused):
    change, words = CHANGES[name]
    record, tensors = forge.taken_apart(raw)
    change(record)
    refused(forge.put_together(record, tensors), words)


def test_unused_tensors_and_objects(raw, refused):
    record, tensors = forge.taken_apart(raw)
    refused(forge.put_together(record, tensors | {"extra": ("U8", [1], b"x")}), "tensors that are used; tensor 'extra'")
    record["objects"].insert(len(record["objects"]) - 1, {"entry": "Eigen", "fields": {}})
    refused(forge.put_together(record, tensors), r"objects and tensors that are used; object \d+ is not")


def test_a_tensor_is_not_named_without_end(raw, refused):
    record, tensors = forge.taken_apart(raw)
    last(record)["C"] = {"list": [last(record)["support_"]] * 40}
    refused(forge.put_together(record, tensors), "a tensor at most 16 times")


def texts(*kernels):
    """A file of one object whose parameter is a list of kernels."""
    fields = {"kernel": {"list": [{"kernel": text} for text in kernels]}}
    return forge.put_together({"mercer": "0", "objects": [{"entry": "KernelRidge", "fields": fields}]}, {})


COSTLY = {
    "many terms": (["cosine+" * 18_000 + "cosine"], "a text composes at most 4,096 kernels"),
    "many large kernels": (["2+" * 999 + str(i) for i in range(450)], "texts of kernels that can be read"),
    "many nested kernels": (["exp(" * 50 + "1+" * 900 + str(i) + ")" * 50 for i in range(300)], "that can be read"),
    "many small kernels": ([str(i) for i in range(40_000)], "at most 16,384 kernels in all"),
    "deep": (["linear" + ".normalized()" * 999], "nests at most 100 levels"),
    "monomials": (["monomials(degree=1000000)"], "from 1 to 100 for degree"),
    "powers": (["powers(degree=100000000)"], "from 1 to 10000 for degree"),
    "waves": (["trigonometric(order=1000000000)"], "Trigonometric needs an integer"),
    "rounds": (["weisfeiler_lehman(iterations=1000000000)"], "WeisfeilerLehman needs an integer"),
    "formulas": (["linear.after(['" + "x1+" * 2000 + "x1'])"], "at most 4,096 kernels and letters"),
    "many formulas": ([f"linear.after(['{'x1*(-x1)+' * 200}{i}'])" for i in range(300)], "that can be read"),
    "deep formulas": (["linear.after(['" + "exp(" * 200 + "x1" + ")" * 200 + "'])"], "nests deeper than 60"),
    "quotients": (["linear.after(['x1" + "/x1" * 900 + "'])"], "divides at most"),
    "weights": (["linear.weighted('" + "x1+" * 2000 + "x1')"], "at most 4,096 kernels and letters"),
    "runs": (["mismatch(k=1000000, m=999999)"], "from 1 to 100 for k"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_kernels_that_cost_time(name, refused, monkeypatch):
    """Refused before more is built than a file may hold in all."""
    built = []
    original = Kernel.__post_init__
    monkeypatch.setattr(Kernel, "__post_init__", lambda self: built.append(1) or original(self))
    kernels, words = COSTLY[name]
    refused(texts(*kernels), f"(?i){words}")
    assert len(built) <= MAX_KERNELS


def test_equal_kernels_count_once(tmp_path):
    path = tmp_path / "many.mercer"
    path.write_bytes(texts(*["2*linear + 1"] * 10_000))
    assert len(load(path).kernel) == 10_000


@pytest.mark.parametrize("shape", [[0, 2**59, 2**59], [2**59, 0, *[2**59] * 6]])
def test_axes_that_memory_could_not_hold(shape, refused):
    fields = {"kernel": {"kernel": "linear"}, "alpha": {"array": 0}}
    record = {"mercer": "0", "objects": [{"entry": "KernelRidge", "fields": fields}]}
    refused(forge.put_together(record, {"0": ("F64", shape, b"")}), "shapes that memory could hold", inspected=True)


def test_objects_do_not_nest_without_end(refused):
    unit = [{"entry": "Trigonometric", "fields": {}}]
    unit += [{"entry": "Scaled", "fields": {"lift": {"object": i}, "factor": 1.0}} for i in range(40)]
    refused(forge.put_together({"mercer": "0", "objects": unit}, {}), "at most 32 objects inside of each other")


def test_objects_do_not_double_without_end(refused):
    """A lift whose two parts are one, whose two parts are one, ...: a walk would take 2^30 steps."""
    unit = [{"entry": "Trigonometric", "fields": {"n_features_in_": 2}}]
    for i in range(30):
        both = {name: {"object": i} for name in ("first", "second", "first_", "second_")}
        unit.append({"entry": "Concatenation", "fields": {"n_features_in_": 2, **both}})
    refused(forge.put_together({"mercer": "0", "objects": unit}, {}), "at most 65,536 objects in one")


# -- what fields say together -----------------------------------------------------------------------------------------


def forged(name, tmp_path):
    path = tmp_path / "seed.mercer"
    save(zoo.fitted(name)[0] if name in zoo.MODELS else zoo.fitted_lift(name)[0], path)
    return forge.taken_apart(path.read_bytes())


def tensor_of(record, entry, field):
    """The name of the tensor that a field of an entry holds."""
    fields = next(one["fields"] for one in record["objects"] if one["entry"] == entry)
    return str(fields[field]["array"])


def array_of(tensors, name):
    codes = {"F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?", "I8": "i1"}
    dtype, shape, content = tensors[name]
    return np.frombuffer(content, codes[dtype]).reshape(shape).copy()


SPOILED = [
    ("ridge", "Points", "values", 0, np.nan, "arrays without NaN"),
    ("ridge", "Points", "values", 0, np.inf, "a Points that makes sense; rows hold infinite numbers"),
    ("ridge", "ByDuals", "duals", 0, np.nan, "arrays without NaN"),
    ("ridge", "RidgeResult", "kept", 0, 10**6, "rows that were fitted are not among"),
    ("ridge", "RidgeResult", "kept", 0, -1, "rows that were fitted are not among"),
    ("ridge, sparse", "csr_array", "indices", 3, 10**6, "fields that make a csr_array"),
    ("ridge, sparse", "csr_array", "indices", 3, -5, "fields that make a csr_array"),
    ("ridge, sparse", "csr_array", "indptr", 5, 10**6, "fields that make a csr_array"),
    ("ridge, sparse", "csr_array", "indptr", 0, 1, "fields that make a csr_array"),
    ("svc, words", "Points", "values", 0, 1e6, "names objects that its store does not have"),
    ("svc, words", "Points", "values", 0, -1.0, "names objects that its store does not have"),
    ("svc, words", "Points", "values", 0, 0.5, "names objects that its store does not have"),
    ("svc, words", "Texts", "ends", 0, 10**9, "texts one after the other"),
    ("svc, words", "Texts", "ends", 0, -1, "texts one after the other"),
    ("svc, words", "Lists", "counts", 0, 10**9, "lists that hold all members"),
    ("svc, words", "Lists", "counts", 0, -5, "lists that hold all members"),
    ("svc", "Texts", "letters", 0, 255, "texts in UTF-8"),
    ("ridge, graphs", "Graphs", "edges", 0, 10**6, "edges between nodes that exist"),
    ("ridge, graphs", "Graphs", "counts", 0, -3, "graphs that hold all edges"),
    ("ridge, graphs", "Graphs", "nodes", 0, -3, "fields that make a Store"),
    ("kernel perceptron", "Mistakes", "rows", 0, 10**6, "mistakes name rows that are not remembered"),
    ("means", "MeansOfRows", "members", 0, 77, "rows belong to clusters that do not exist"),
    ("svc", "MarginModel", "support", 0, -1, "the support names rows below 0"),
    ("Parabolic()", "Expansion", "factors", 0, 50, "monomials name columns that are not among 3"),
    ("Parabolic()", "Expansion", "factors", 0, -7, "monomials name columns that are not among 3"),
]


@pytest.mark.parametrize(("name", "entry", "field", "at", "value", "words"), SPOILED, ids=str)
def test_numbers_that_make_no_sense(name, entry, field, at, value, words, tmp_path, refused):
    record, tensors = forged(name, tmp_path)
    key = tensor_of(record, entry, field)
    array = array_of(tensors, key)
    array.flat[at] = value
    tensors[key] = (*tensors[key][:2], array.tobytes())
    refused(forge.put_together(record, tensors), words)


def test_sketches_name_places_that_exist(tmp_path, refused):
    name = next(name for name in zoo.lifts() if "tensor" in name)
    record, tensors = forged(name, tmp_path)
    key = tensor_of(record, "TensorSketch", "places")
    array = array_of(tensors, key)
    array.flat[0] = 10**9
    tensors[key] = (*tensors[key][:2], array.tobytes())
    refused(forge.put_together(record, tensors), "places lie beyond")


RESHAPED = ["ByDuals.duals", "ByDuals.levels", "Points.values", "Centering.weights", "DualFit.duals"]


@pytest.mark.parametrize("where", RESHAPED)
def test_shapes_that_do_not_agree(where, tmp_path, refused):
    record, tensors = forged("ridge", tmp_path)
    key = tensor_of(record, *where.split("."))
    dtype, shape, content = tensors[key]
    tensors[key] = dtype, [*shape, 1, 1], content
    refused(forge.put_together(record, tensors), "makes sense|of its type|fields that make")


def test_truths_are_zeros_and_ones(tmp_path, refused):
    path = tmp_path / "mixed.mercer"
    save(zoo.fitted("ridge, labels")[0], path)
    record, tensors = forge.taken_apart(path.read_bytes())
    key = tensor_of(record, "Labels", "missing")
    tensors[key] = (*tensors[key][:2], b"\2" * len(tensors[key][2]))
    refused(forge.put_together(record, tensors), "zeros and ones for booleans")


@pytest.mark.parametrize(
    ("name", "entry", "fields", "words"),
    [
        ("Exact()", "Expansion", {"width": 9}, "got polynomials of 9 columns for 3"),
        ("Exact()", "Exact", {"n_features_in_": 9}, "got polynomials of 3 columns for 9"),
        ("Powers()", "Rising", {"width": 10**12}, "a Rising that makes sense"),
        ("Powers()", "Rising", {"width": 4}, "got an expansion of 4 columns for 3"),
        ("Trigonometric()", "Trigonometric", {"n_features_in_": -1}, "got -1 columns"),
        ("ridge, lift", "KernelRidge", {"n_features_in_": 4}, "got rows of 3 columns for a model of 4"),
        ("Nystrom()", "Nystrom", {"n_features_in_": 4}, "for 4 columns"),
        ("svc, landmarks", "KernelSVC", {"n_features_in_": 4}, "got rows of 3 columns for a model of 4"),
        ("means, landmarks", "KernelKMeans", {"n_features_in_": 4}, "got rows of 3 columns for a model of 4"),
        ("kernel perceptron", "KernelPerceptron", {"n_features_in_": 4}, "got rows of 3 columns for a model of 4"),
        ("forgetron", "Forgetron", {"used": 11}, "11 of 10 slots are taken"),
        ("forgetron", "Forgetron", {"oldest": -1}, "the oldest row is in slot -1"),
    ],
)
def test_fields_that_do_not_agree(name, entry, fields, words, tmp_path, refused):
    record, tensors = forged(name, tmp_path)
    for one in record["objects"]:
        if one["entry"] == entry:
            one["fields"].update(fields)
    refused(forge.put_together(record, tensors), words)


FORMULAS = {
    "code": (["__import__('os').system('true')"], "There is no"),
    "a name that no column has": (["age^2"], "There is no"),
    "too many columns": (["x9"], "formulas of other than 3 columns"),
    "no formulas": ([], "1 to 10,000 formulas"),
    "deep": (["(" * 90 + "x1" + ")" * 90], "nests deeper than 60"),
    "quotients": (["x1" + "/x1" * 900], "divides at most"),
    "long": (["x1+" * 20_000 + "x1"], "at most 524,288 texts"),
    "many": (["x1"] * 10_001, "at most 524,288 texts"),
    "numbers": ([1.0], "of its type"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_that_are_none(name, tmp_path, refused):
    record, tensors = forged("Formulas()", tmp_path)
    texts, words = FORMULAS[name]
    last(record)["_texts"] = {"tuple": texts}
    refused(forge.put_together(record, tensors), words)


def test_formulas_count_in_all(tmp_path, refused):
    record, tensors = forged("Formulas()", tmp_path)
    lift = record["objects"][-1]
    copies = [
        {**lift, "fields": {**lift["fields"], "_texts": {"tuple": ["x1*(-x1)+" * 200 + str(i)]}}} for i in range(20)
    ]
    refused(forge.put_together({**record, "objects": copies}, tensors), "at most 524,288 texts")


def test_composed_lifts_agree_with_their_parts(tmp_path, refused):
    name = next(name for name in zoo.lifts() if name.startswith("Concatenation"))
    record, tensors = forged(name, tmp_path)
    last(record)["n_features_in_"] = 5
    refused(forge.put_together(record, tensors), "got a part of other than 5 columns")


def test_texts_are_no_wider_than_their_letters(tmp_path, refused):
    record, tensors = forged("svc", tmp_path)
    letters, ends = (tensor_of(record, "Texts", field) for field in ("letters", "ends"))
    text = b"a" * 4_000_000 + "\U0001f600".encode()
    for count, words in [(2, "few wide letters among many"), (1, "at most 4,194,304 bytes")]:
        whole = text * (3 - count)
        tensors[letters] = "U8", [2 * len(whole)], whole * 2
        tensors[ends] = "I64", [2], np.array([len(whole), 2 * len(whole)]).tobytes()
        refused(forge.put_together(record, tensors), words)


def test_families_of_monomials_can_be_counted(tmp_path, refused):
    record, tensors = forged("Monomials()", tmp_path)
    for family in ({"width": 10**9, "degree": 10**9}, {"width": 0, "degree": 1}, {"width": 3, "degree": -1}):
        next(one for one in record["objects"] if one["entry"] == "Family")["fields"].update(family)
        refused(forge.put_together(record, tensors), "a Family that makes sense")


def test_texts_are_counted_before_they_are_made(tmp_path, refused):
    record, tensors = forged("svc", tmp_path)
    many = 2**19 + 1
    tensors[tensor_of(record, "Texts", "ends")] = "I64", [many], bytes(8 * many)
    tensors[tensor_of(record, "Texts", "letters")] = "U8", [0], b""
    refused(forge.put_together(record, tensors), "at most 524,288 texts")


def test_texts_of_fixed_width_are_limited(tmp_path, refused):
    record, tensors = forged("svc", tmp_path)
    next(one for one in record["objects"] if one["entry"] == "TextArray")["fields"]["width"] = 10**12
    refused(forge.put_together(record, tensors), "texts of fixed width")


def test_the_error_is_one_of_ours():
    assert issubclass(ModelFileError, MercerError)
    assert issubclass(ModelFileError, ValueError)
