"""Compile generated Triton code for cards that are not here, and look at what came out."""

import re
import subprocess
import tempfile

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from mercer.backends.cuda import kernels

SHORT = {"float32": "fp32", "float64": "fp64", "bfloat16": "bf16"}
CONSTANTS = {
    "reduce": {"SQUARE": 0},
    "reduce_many": {"BC": 16},
    "both": {},
    "fill": {"MIRRORED": False},
}
INTEGERS = ("ldx", "ldz", "ldo", "block", "span", "stop", "low", "n", "m")
ANY = ("block", "low", "n", "m")
"""Integers that need not be multiples of 16."""


def compiled(source, finish, capability):
    """A kernel of a source, compiled with the tiles of the table for a card of this compute capability."""
    tiles = source.tiles(finish)
    function = getattr(kernels.module(source.text), finish)
    constants = {"BM": tiles.rows, "BN": tiles.columns, **CONSTANTS[finish]}
    signature = {name: _type(name, source, finish, constants) for name in function.arg_names}
    divisible = [
        name
        for name, found in signature.items()
        if found != "constexpr" and name not in ANY and not re.fullmatch(r"d\d+", name)
    ]
    place = {name: (k,) for k, name in enumerate(function.arg_names)}
    ast = ASTSource(
        function,
        signature,
        constexprs={place[name]: value for name, value in constants.items()},
        attrs={place[name]: [["tt.divisibility", 16]] for name in divisible},
    )
    options = {"num_warps": tiles.warps, "num_stages": tiles.stages, "enable_fp_fusion": True}
    return triton.compile(ast, target=GPUTarget("cuda", capability, 32), options=options)


def _type(name, source, finish, constants):
    if name in constants:
        return "constexpr"
    if name in INTEGERS or re.fullmatch(r"d\d+", name):
        return "i32"
    if found := re.fullmatch(r"[xz](\d+)", name):
        packed = source.tables[int(found[1])].kind != "coordinates"
        return "*" + SHORT[source.form.dtype if packed else source.statistics]
    if name in ("rows", "columns"):
        return "*" + SHORT[source.statistics]
    if name in ("numbers", "out"):
        return "*fp64"
    if finish == "reduce_many" and source.is_rough:
        return "*bf16"
    return "*" + SHORT[source.values]


def instructions(kernel):
    """The instructions of tensor cores in it: what is multiplied in which types."""
    found = re.findall(
        r"(wgmma|mma)\.\w+\.sync\.aligned\.\w+\.([\w.]*)|mma\.sync\.aligned\.\w+\.([\w.]*)", kernel.asm["ptx"]
    )
    return {(a or "mma", next(t for t in (b or c).replace("row.col.", "").split(".")[1:])) for a, b, c in found}


def spilled(kernel):
    """Bytes of a thread that went to memory for want of registers."""
    tool = triton.knobs.nvidia.cuobjdump.path
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        shown = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True, check=True).stdout
    return sum(int(size) for size in re.findall(r"(?:STACK|LOCAL):(\d+)", shown))
