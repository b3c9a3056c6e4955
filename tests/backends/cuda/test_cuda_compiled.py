"""Generated Triton code compiled for cards that are not here: tensor cores are used, and registers suffice."""

import cuda_here
import pytest

cuda_here.triton_or_skip()

from cuda_cases import LEAVES, OWN, kernel_of, table, traced
from cuda_ptx import compiled, instructions, spilled

from mercer.backends.cuda.text import write

COMPOSITE = "gaussian + 0.5*linear*matern(nu=1.5)"
PRODUCTS = {"tf32x3": "tf32", "bf16x6": "bf16", "bf16x3": "bf16", "float64": "f64"}
ROUTES = [
    ("float32", "tf32x3"),
    ("float32", "bf16x6"),
    ("float32", "bf16x3"),
    ("mixed", "float64"),
    ("float64", "float64"),
]
FEW_BYTES = 40
"""Of a thread that may go to memory: Triton 3.5 to 3.9 differ by ten registers."""
FINISHES = ("reduce", "reduce_many", "both", "fill")


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def source_of(name, d, precision, form, kind="product"):
    kernel = kernel_of(name)
    found = traced(kernel, table(kernel, 4, d, 0), None, precision, kind)
    return write(found.formula, precision, found.methods, form)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize(("precision", "form"), ROUTES)
@pytest.mark.parametrize(("name", "d"), [("gaussian", 10), (COMPOSITE, 3)])
def test_products_are_on_tensor_cores_and_registers_suffice(name, d, precision, form, capability):
    source = source_of(name, d, precision, form)
    for finish in FINISHES if capability == 90 else ("reduce",):
        kernel = compiled(source, finish, capability)
        group = "wgmma" if capability == 90 and form != "float64" else "mma"
        assert (group, PRODUCTS[form]) in instructions(kernel), finish
        assert spilled(kernel) <= FEW_BYTES, finish


@pytest.mark.parametrize("d", [64, 300])
@pytest.mark.parametrize(("precision", "form"), [("float32", "tf32x3"), ("float64", "float64")])
def test_registers_suffice_for_wide_rows(d, precision, form):
    source = source_of("gaussian", d, precision, form)
    for finish in ("reduce", "reduce_many"):
        assert spilled(compiled(source, finish, 90)) <= FEW_BYTES, finish


def test_differences_need_no_tensor_core():
    source = source_of("gaussian", 3, "float32", "tf32x3", "differences")
    kernel = compiled(source, "reduce", 90)
    assert not instructions(kernel)
    assert spilled(kernel) == 0
    assert "ex2.approx" in kernel.asm["ptx"]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", [*LEAVES, *OWN])
def test_every_kernel_compiles(name, precision):
    form = "tf32x3" if precision == "float32" else "float64"
    for d in (2, 40):
        assert "cubin" in compiled(source_of(name, d, precision, form), "reduce", 90).asm
