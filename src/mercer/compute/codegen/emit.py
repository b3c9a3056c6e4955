"""From a formula to the text of the loops that evaluate it on a tile: the printer for Numba.

The text is the same for all data and all numbers, so that it is compiled once: numbers, rows and columns arrive as
arguments. A module holds three functions that differ in what they do with a value: `fill` writes it (and returns the
sum of the tile, which is finite only if every value is), `reduce` sums it against a vector, and `both` does so for a
tile and its mirror image in a symmetric matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from mercer.compute.codegen.formula import Group, Total
from mercer.compute.codegen.intrinsics import prelude
from mercer.compute.codegen.lower import LEAF, Line, Lowered, lower, lower_term
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.program import Coordinates, Method, Program
from mercer.compute.codegen.structure import MAX_STRUCTURES, Structure, leaves
from mercer.compute.codegen.sweeps import BLOCK_BYTES, COORDINATES, ROWS, sweeping
from mercer.compute.codegen.symbols import ARITHMETIC, COMPARISONS, LIBRARY, WORDS, Level, Symbol

SLOW = (WORDS | LIBRARY.keys() | {"power"}) - {"absolute"}
"""Functions that take so long that nothing is gained by several rows at once."""
MANY_NEAR = 64
"""One of so many pairs that need differences is many: for each alone they take as long as vector code for all."""


def write(formula: Symbol, precision: str, methods: dict[Group, Method]) -> Program:
    """The program of a formula in a precision; the text is written once for all formulas of a structure."""
    found = leaves(formula)
    chosen = tuple([methods.get(group) for group in found.groups])
    return _written(found.structure, precision, chosen).filled(found)


@lru_cache(MAX_STRUCTURES)
def _written(structure: Structure, precision: str, chosen: tuple[Method | None, ...]) -> Program:
    methods = {group: method for group, method in zip(structure.groups, chosen, strict=True) if method}
    program = Program(precision)
    writer = _Writer(program, lower(structure.formula, precision), methods)
    body = {finish: writer.function(finish) for finish in ("fill", "reduce", "both")}
    text = [prelude(VALUES[precision], writer.words), _head(precision), *writer.helpers, *body.values()]
    program.text = "\n\n".join(text) + "\n"
    return program


def _head(precision: str) -> str:
    """What the loops need beside words. The digest is there for the key under which compiled code is kept."""
    from mercer.compute.codegen import products  # Numba comes with it

    return HEAD.format(
        digest=products.DIGEST,
        S=STATISTICS[precision],
        T=VALUES[precision],
        rows=ROWS,
        coordinates=COORDINATES,
        wide=BLOCK_BYTES // np.dtype(STATISTICS[precision]).itemsize,
    )


HEAD = """\
from mercer.compute.codegen.products import inner_products, squared_distances  # {digest}

S, T = np.{S}, np.{T}
ROWS, COORDINATES, WIDE = {rows}, {coordinates}, {wide}


@njit(**WORD)
def positive(x):
    return S(0) if x < S(0) else x
"""


class _Writer:
    """Writes the loops around the lines of a formula, and the lines into the innermost of them."""

    def __init__(self, program: Program, lowered: Lowered, methods: dict[Group, Method]) -> None:
        self.program = program
        self.lowered = lowered
        self.methods = methods
        self.words: set[str] = set()
        self.helpers: list[str] = []
        self.sweeps: list[str] = []
        self.sums: list[str] = []
        self.repairs: list[str] = []
        self.buffers: list[str] = []
        self.names: dict[Line, str] = {}
        self.lines: dict[Level, list[str]] = {level: [] for level in Level}
        self.distances: dict[Group, str] = {}
        self.products: dict[Group, str] = {}
        self.roots: dict[Group, str] = {}
        self.parted: list[str] = []
        for group in lowered.wanted:
            self._prepare(group)
        for line in lowered.lines:
            self.names[line] = self._name(line)

    def _name(self, line: Line) -> str:
        """The name of a line's value, or its text where it needs none."""
        if line.operation == "whole":
            return f"{'S' if line.wide else 'T'}({line.value})"
        if line.operation == "number":
            return self.program.number(line.value, wide=line.wide)
        if line.operation == "exp2_parts":
            return self._part(line)
        if line.wide:
            text = self._statistic(line) if line.operation in LEAF else self._expression(line, self.names)
            self.parted.append(f"wide{len(self.parted)} = {text}")
            return f"wide{len(self.parted) - 1}"
        return self._emit(line)

    # -- exponents in float64, the rest in float32 ------------------------------------------------------------------

    def _part(self, line: Line) -> str:
        """The whole part and the fraction of an exponent, in buffers for the row at hand."""
        place, exponent = len(self.buffers), self.names[line.parts[0]]
        self.buffers += [f"whole{place} = np.empty(panel, T)", f"part{place} = np.empty(panel, T)"]
        self.parted += [
            f"nearest{place} = np.rint({exponent})",
            f"whole{place}[j] = nearest{place}",
            f"part{place}[j] = {exponent} - nearest{place}",
        ]
        self.words.add("exp2_parts")
        self.lines[Level.PAIR].append(f"power{place} = exp2_parts(whole{place}[j], part{place}[j])")
        return f"power{place}"

    def _narrowed(self, line: Line) -> str:
        """A statistic that the rest of the formula needs, in the type of the values."""
        text = self._statistic(line)
        if line.operation in ("row", "column"):
            return f"T({text})"
        if self.program.precision != "mixed":
            return text
        name = f"narrow{len(self.buffers)}"
        self.buffers.append(f"{name} = np.empty(panel, T)")
        self.parted.append(f"{name}[j] = {text}")
        return f"{name}[j]"

    # -- statistics -------------------------------------------------------------------------------------------------

    def _prepare(self, group: Group) -> None:
        """What must be done for a group before its statistics can be asked."""
        wanted = self.lowered.wanted[group]
        method = self.methods[group]
        if method.kind == "differences":
            self.distances[group] = self._known(self._sums("squared_distances", Coordinates(group)))
            return
        product = self.products[group] = self._product(group)
        if method.repaired and not method.swept:
            self._repair(group, product)
        if (method.repaired and not method.swept) or method.kind == "ready":
            self.distances[group] = self._known(product)
        elif wanted & {"square", "root"}:
            found = self.distances[group] = self._known(f"positive({self._norms(group)} - {product} - {product})")
            if method.repaired:
                near, limit = self._sums("squared_distances", Coordinates(group)), self.program.number(group, wide=True)
                self.distances[group] = self._known(f"{near} if {found} < {limit} else {found}")

    def _known(self, text: str) -> str:
        """The name of what is computed once for each pair, before anything that asks it is."""
        lines = self.parted if self.program.precision == "mixed" else self.lines[Level.PAIR]
        lines.append(f"known{len(lines)} = {text}")
        return f"known{len(lines) - 1}"

    def _product(self, group: Group) -> str:
        """The entry of the pair at hand of what a product of matrices gives."""
        if not group.sparse:
            return self._sums("inner_products", Coordinates(group, moved=True))
        self.program.tiles.append(group)
        return f"t{len(self.program.tiles) - 1}[j]"

    def _norms(self, group: Group) -> str:
        row = self.program.vector(Level.ROW, ("norms", group))
        return f"({row} + {self.program.vector(Level.COLUMN, ('norms', group))})"

    def _dot(self, group: Group) -> str:
        method = self.methods[group]
        if method.kind != "product" or (method.repaired and not method.swept):
            inner = f"S(0.5) * ({self._norms(group)} - {self.distances[group]})"
        else:
            inner = self.products[group]
        if not method.shifted:
            return inner
        row = self.program.vector(Level.ROW, ("shifts", group))
        return f"({inner} + ({row} + {self.program.vector(Level.COLUMN, ('shifts', group))}))"

    def _side(self, asked: Coordinates) -> int:
        if asked not in self.program.coordinates:
            self.program.coordinates.append(asked)
        return self.program.coordinates.index(asked)

    def _repair(self, group: Group, product: str) -> None:
        """Squared distances in place; those below the limit, where the product has cancelled, from differences.

        A few are computed one by one; where a row has many, all of them at once, for the rows beside it too.
        """
        place, limit = len(self.buffers), self.program.number(group, wide=True)
        side = self._side(Coordinates(group))
        columns = f"right{side}, start, stop"
        self.buffers.append(f"gaps{place} = np.empty((ROWS, panel + WIDE), S)")
        self.sweeps.append(f"swept{place} = False")
        self.repairs += [
            "near = 0",
            "for j in range(width):",
            f"    s = positive({self._norms(group)} - {product} - {product})",
            f"    {product} = s",
            f"    near += 1 if s < {limit} else 0",
            f"if near > width // {MANY_NEAR}:",
            f"    if not swept{place}:",
            f"        squared_distances(left{side}, i0 + i, i0 + height - 1, {columns}, gaps{place})",
            f"        swept{place} = True",
            f"    gap = gaps{place}[r, start % WIDE :]",
            "    for j in range(width):",
            f"        {product} = gap[j] if {product} < {limit} else {product}",
            "elif near > 0:",
            f"    x = left{side}[i0 + i + r]",
            "    for j in range(width):",
            f"        if {product} < {limit}:",
            "            s = S(0)",
            "            for k in range(len(x)):",
            f"                apart = x[k] - right{side}[(start + j) // WIDE, k, (start + j) % WIDE]",
            "                s += apart * apart",
            f"            {product} = s",
        ]

    def _total(self, joined: Total) -> str:
        """The entry of the pair at hand of a sum or product over the coordinates."""
        names: dict[Line, str] = {}
        texts: list[str] = []
        term, first = lower_term(joined.term), len(self.program.numbers)
        for line in term:
            if line.operation in ("x", "z"):
                names[line] = line.operation
            elif line.operation == "number":
                names[line] = self.program.number(line.value, wide=True)
            else:
                names[line] = f"v{len(texts)}"
                texts.append(f"    v{len(texts)} = {self._expression(line, names)}")
        extra = "".join(f", w{k}" for k in range(first, len(self.program.numbers)))
        name = f"term{len(self.helpers)}"
        self.helpers.append(_helper(name, f"x, z{extra}", [*texts, f"    return S({names[term[-1]]})"]))
        rows = 1 if any(line.operation in SLOW for line in term) else ROWS
        sweep = f"sweep{len(self.helpers)}"
        self.helpers.append(sweeping(sweep, joined.joined_by, lambda x, z: f"{name}({x}, {z}{extra})", extra, rows))
        return self._sums(sweep, Coordinates(joined.group, paneled=True), f", panel{extra}")

    def _sums(self, sweep: str, asked: Coordinates, extra: str = "") -> str:
        """The entry of the pair at hand of what a function leaves in a buffer, for some rows at a time."""
        place, side = len(self.sums), self._side(asked)
        self.buffers.append(f"sums{place} = np.empty((ROWS, panel + WIDE), S)")
        rows, columns = f"left{side}, i0 + i, i0 + height - 1", f"right{side}, start, stop"
        self.sweeps.append(f"{sweep}({rows}, {columns}, sums{place}{extra})")
        self.sums.append(f"q{place} = sums{place}[r, start % WIDE :]")
        return f"q{place}[j]"

    # -- the formula ------------------------------------------------------------------------------------------------

    def _emit(self, line: Line) -> str:
        """The name of a line's value; it goes where all on which it depends is known."""
        text = self._narrowed(line) if line.operation in LEAF else self._expression(line, self.names)
        level = Level.PAIR if line.level is Level.COLUMN else line.level
        name = f"{level.name.lower()}{len(self.lines[level])}"
        self.lines[level].append(f"{name} = {text}")
        return name

    def _statistic(self, line: Line) -> str:
        if line.operation in ("row", "column"):
            return self.program.vector(line.level, line.value)
        if line.operation == "total":
            return self._total(line.value)
        if line.operation == "dot":
            return self._dot(line.value)
        if line.operation == "square":
            return self.distances[line.value]
        if line.value not in self.roots:
            self.roots[line.value] = self._known(f"np.sqrt({self.distances[line.value]})")
        return self.roots[line.value]

    def _expression(self, line: Line, names: dict[Line, str]) -> str:
        dtype = "S" if line.wide else "T"
        parts = [f"{dtype}({p.value})" if p.operation == "whole" else names[p] for p in line.parts]
        if line.operation == "whole":
            return f"{dtype}({line.value})"
        if line.operation == "angle":
            return parts[0]
        operator = ARITHMETIC.get(line.operation) or COMPARISONS.get(line.operation)
        if operator or line.operation in ("and", "or"):
            return f"{parts[0]} {operator or line.operation} {parts[1]}"
        if line.operation == "select":
            return f"{parts[1]} if {parts[0]} else {parts[2]}"
        if line.operation in ("minimum", "maximum"):  # one instruction, where Numba's min and max are several
            return f"{parts[0]} if {parts[0]} {'<' if line.operation == 'minimum' else '>'} {parts[1]} else {parts[1]}"
        return f"{self._function(line.operation)}({', '.join(parts)})"

    def _function(self, operation: str) -> str:
        plain = {"absolute": "abs", "sqrt": "np.sqrt"} | LIBRARY
        if operation in plain:
            return plain[operation]
        self.words.add(operation)
        return operation

    # -- the loops --------------------------------------------------------------------------------------------------

    def function(self, finish: str) -> str:
        """One of the functions of the module."""
        first, before, at_row, inside, after_row, after_part, after = FINISHES[finish]
        program, value = self.program, self.names[self.lowered.result]
        sides = [f"left{k}, right{k}" for k in range(len(program.coordinates))]
        arguments = [f"p{k}" for k in range(len(program.tiles))] + sides + [COMMON, FINISH_ARGUMENTS[finish]]
        numbers = [f"n{k}, w{k} = T(numbers[{k}]), S(numbers[{k}])" for k in range(len(program.numbers))]
        part = [f"c{k} = columns[{k}, start:stop]" for k in range(len(program.columns))]
        row = [f"t{k} = p{k}[i + r, start - j0 : stop - j0]" for k in range(len(program.tiles))]
        row += [f"r{k} = rows[{k}, i0 + i + r]" for k in range(len(program.rows))]
        row += [*self.sums, *self.repairs]
        row += ["for j in range(width):", *_indent(self.parted, 1)] if self.parted else []
        row += [*self.lines[Level.ROW], *at_row]
        pair = [*self.lines[Level.PAIR], inside.format(value=value)]
        lines = [
            "@njit(cache=True, nogil=True, fastmath=FLAGS, boundscheck=False, error_model='numpy')",
            f"def {finish}({', '.join(arguments)}):",
            *_indent([*numbers, *self.lines[Level.UNIFORM], *self.buffers, *first], 1),
            *_indent(["stop = j0", "while stop < j1:"], 1),
            *_indent(["start, stop = stop, min(stop - stop % panel + panel, j1)", "width = stop - start"], 2),
            *_indent([*part, *before, "for i in range(0, height, ROWS):"], 2),
            *_indent([*self.sweeps, "for r in range(min(ROWS, height - i)):"], 3),
            *_indent([*row, "for j in range(width):"], 4),
            *_indent(pair, 5),
            *_indent(after_row, 4),
            *_indent(after_part, 2),
            *_indent(after, 1),
        ]
        return "\n".join(lines)


COMMON = "rows, columns, numbers, i0, height, j0, j1, panel"
FINISH_ARGUMENTS = {"fill": "out, o0, o1", "reduce": "v, out", "both": "v, out"}
FINISHES: dict[str, tuple[list[str], list[str], list[str], str, list[str], list[str], list[str]]] = {
    "fill": (
        ["check = T(0)"],
        [],
        ["line = out[o0 + i + r, o1 + start - j0 : o1 + stop - j0]"],
        "line[j] = {value}; check += {value}",
        [],
        [],
        ["return check"],
    ),
    "reduce": (
        [],
        ["w = v[start:stop]"],
        ["total = T(0)"],
        "total += {value} * w[j]",
        ["out[i0 + i + r] += total"],
        [],
        [],
    ),
    "both": (
        ["side = np.empty(panel, T)"],
        ["w = v[start:stop]", "side[:] = T(0)"],
        ["total, weight = T(0), v[i0 + i + r]"],
        "total += {value} * w[j]; side[j] += {value} * weight",
        ["out[i0 + i + r] += total"],
        ["for j in range(width):", "    out[start + j] += side[j]"],
        [],
    ),
}
"""What stands first, before the rows of a panel, before a row, in the innermost loop, after a row, after the rows of a
panel, and last."""


def _helper(name: str, arguments: str, lines: Iterable[str]) -> str:
    head = "@njit(forceinline=True, fastmath=FLAGS, error_model='numpy')"
    return "\n".join([head, f"def {name}({arguments}):", *lines])


def _indent(lines: Iterable[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
