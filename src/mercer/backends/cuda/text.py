"""From the lines of a formula to the text of Triton kernels: the printer for graphics cards.

A module holds functions for blocks of pairs (`at_rows` loads what belongs to some rows, `at_pairs` gives the values of
these rows and some columns) and kernels that differ in what they do with the values: `reduce` sums them against a
vector, `reduce_many` against many, `both` does so for a tile and its mirror image in a symmetric matrix, and `fill`
writes them. One program has a block of rows and walks over a span of columns; its sums have a place of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from mercer.backends.cuda.finishes import FINISHES, finish, shared_arguments
from mercer.backends.cuda.packing import FORMS, Form, chunks, coordinates, wide_chunk
from mercer.backends.cuda.tiles import Tiles, tiles_for
from mercer.backends.cuda.words import BUILT_IN, LIBRARY, prelude
from mercer.compute.codegen.formula import Group, Total
from mercer.compute.codegen.lower import LEAF, Line, Lowered, lower, lower_term
from mercer.compute.codegen.precision import STATISTICS, VALUES
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.symbols import ARITHMETIC, COMPARISONS, Level, Symbol, Untraceable

MAX_UNROLLED_COLUMNS = 16
"""Coordinates up to which differences are written out, with those of the rows in registers."""
MAX_PACKED_BYTES = 256
"""Bytes of a packed row at most: longer ones are shorter in parts, each of which stands once."""
MAX_PARTS_BYTES = {"float32": 384, "bfloat16": 384, "float64": 768}
"""Bytes of all parts of a row that is loaded once for all columns of a span; longer ones are loaded for each tile."""
LAYOUTS: tuple[Literal["packed", "parts", "wide"], ...] = ("packed", "parts", "wide")
"""How rows lie for inner products, short ones first."""
MAX_SHORT_LINES = 24
"""Lines of a formula that surely has one number of a pair in use at a time."""
BOOLEAN = {*COMPARISONS, "and", "or"}


@dataclass(frozen=True)
class Table:
    """What a kernel reads of the rows of a group.

    kind : for inner products "packed", for longer rows "parts", for those that are loaded for each tile "wide"; or
        "coordinates"
    norms : whether a product is a squared distance, since norms come with it
    factor : with what it is multiplied on the way
    """

    group: Group
    kind: Literal["packed", "parts", "wide", "coordinates"]
    norms: bool = False
    factor: float = 1.0


@dataclass
class Source:
    """A text, and the arguments that it expects, in their order.

    precision : "float32", "mixed" or "float64"
    form : how packed tables are split
    numbers : floats, or the group whose limit for repairs belongs there
    rows, columns : vectors, or ("norms" | "shifts", group)
    tables : what is read of the rows of both sides
    is_long : whether several numbers of a pair are in use at a time
    """

    precision: str
    form: Form
    numbers: list[float | Group] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    columns: list[Any] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    is_long: bool = False
    text: str = ""

    def tiles(self, finish: str) -> Tiles:
        """The tiles of a kernel."""
        tables = [table for table in self.tables if table.kind != "coordinates"]
        width = sum(self.row_bytes(table) for table in tables if table.kind != "wide")
        layout = max((table.kind for table in tables), key=LAYOUTS.index, default="packed")
        return tiles_for(finish, self.statistics, layout, width, self.is_long)

    def row_bytes(self, table: Table) -> int:
        """Of a row of a table for inner products."""
        size, columns = {"float64": 8, "float32": 4, "bfloat16": 2}[self.form.dtype], table.group.width
        return size * (
            self.form.width(columns, table.norms) if table.kind == "packed" else self.form.parts * coordinates(columns)
        )

    @property
    def statistics(self) -> str:
        """The type of the statistics."""
        return STATISTICS[self.precision]

    @property
    def values(self) -> str:
        """The type of the values."""
        return VALUES[self.precision]

    @property
    def is_rough(self) -> bool:
        """Whether two parts of bfloat16 stand for a number, also for values that are multiplied with many vectors."""
        return self.form.parts == 2 and self.form.dtype == "bfloat16" and self.values == "float32"


def write(
    formula: Symbol,
    precision: str,
    methods: dict[Group, Method],
    form: str,
    interpreted: bool = False,
    layout: str | None = None,
) -> Source:
    """The kernels of a formula.

    Parameters
    ----------
    formula : Symbol
        As a kernel's code wrote it.
    precision : {"float32", "mixed", "float64"}
        The types of statistics and values.
    methods : dict
        How the statistics of each group come about.
    form : str
        How the numbers of packed tables are split; a name of `FORMS`.
    interpreted : bool, default=False
        Whether Triton's interpreter is to run it, which has no products of bfloat16.
    layout : {"packed", "parts", "wide"}, optional
        How rows lie for inner products; None for what suits their lengths.

    Returns
    -------
    source : Source
    """
    source = Source(precision, FORMS[form])
    writer = _Writer(source, lower(formula, precision), methods, layout)
    source.is_long = len(source.tables) > 1 or len(writer.lines) > MAX_SHORT_LINES
    rows, columns = ", ".join(writer.of_rows), ", ".join(writer.of_columns)
    kernels = [finish(name, source, len(source.tables), rows, columns, interpreted) for name in FINISHES]
    head = prelude(source.values, writer.words, interpreted)
    texts = [head, *writer.terms, *writer.at_sides(), writer.at_pairs(), *kernels]
    source.text = "\n\n".join(texts)
    return source


class _Writer:
    """Writes the lines of a formula as operations on blocks of pairs."""

    def __init__(self, source: Source, lowered: Lowered, methods: dict[Group, Method], layout: str | None) -> None:
        self.source = source
        self.lowered = lowered
        self.methods = methods
        self.layout = layout
        self.S, self.T = f"tl.{source.statistics}", f"tl.{source.values}"
        self.words: set[str] = set()
        self.terms: list[str] = []
        self.loads: list[str] = []
        self.of_rows: list[str] = []
        self.met: list[str] = []
        self.of_columns: list[str] = []
        self.lines: list[str] = []
        self.names: dict[Line, str] = {}
        self.distances: dict[Group, str] = {}
        self.products: dict[Group, str] = {}
        self.roots: dict[Group, str] = {}
        self.totals: dict[int, str] = {}
        self.factors = _factors(lowered, methods)
        for group in lowered.wanted:
            self._prepare(group)
        for line in lowered.lines:
            self.names[line] = self._name(line)

    # -- arguments --------------------------------------------------------------------------------------------------

    def _number(self, value: float | Group, wide: bool = False) -> str:
        self.source.numbers.append(value)
        name = f"{'w' if wide else 'n'}{len(self.source.numbers) - 1}"
        self.lines.append(f"{name} = tl.load(numbers + {name[1:]}).to({self.S if wide else self.T})")
        return name

    def _vector(self, level: Level, what: Any) -> str:
        """The entries of a vector for the rows or the columns at hand, in the type of the statistics."""
        entries = self.source.rows if level is Level.ROW else self.source.columns
        place = next((k for k, other in enumerate(entries) if _same(other, what)), len(entries))
        name = f"{'r' if level is Level.ROW else 'c'}{place}"
        if place == len(entries):
            entries.append(what)
            if level is Level.ROW:
                self.loads.append(f"{name} = tl.load(rows + {place} * ldx + i)[:, None]")
                self.of_rows.append(name)
            else:
                self.met.append(f"{name} = tl.load(columns + {place} * ldz + at + j)[None, :]")
                self.of_columns.append(name)
        return name

    def _table(self, table: Table) -> int:
        if table not in self.source.tables:
            self.source.tables.append(table)
        return self.source.tables.index(table)

    # -- statistics -------------------------------------------------------------------------------------------------

    def _prepare(self, group: Group) -> None:
        """The statistics of a group that are asked for."""
        wanted, method = self.lowered.wanted[group], self.methods[group]
        if method.kind == "ready" or group.sparse:
            raise Untraceable("sparse rows on a graphics card")
        if method.kind == "differences":
            self.distances[group] = self._over_coordinates(group, "sum", "(x - z) * (x - z)")
            return
        packed = "dot" not in wanted
        product = self.products[group] = self._product(group, packed)
        if not wanted & {"square", "root"} or group in self.factors:
            self.distances[group] = product
            return
        found = product if packed else f"{self._norms(group)} - 2.0 * {product}"
        self.distances[group] = self._known(found)
        self._let(self.distances[group], self._extreme("maximum", [self.distances[group], "0.0"], wide=True))
        if method.repaired:
            self._repair(group, self.distances[group])

    def _product(self, group: Group, norms: bool) -> str:
        """The inner products of rows."""
        factor = self.factors.get(group, 1.0)
        packed, parts, wide = (Table(group, kind, norms, factor) for kind in LAYOUTS)
        fits = {
            "packed": self.source.row_bytes(packed) <= MAX_PACKED_BYTES,
            "parts": self.source.row_bytes(parts) <= MAX_PARTS_BYTES[self.source.form.dtype],
        }
        layout = self.layout or next((kind for kind in fits if fits[kind]), "wide")
        if layout == "packed":
            return self._packed(packed)
        return self._parts(parts) if layout == "parts" else self._wide(wide)

    def _packed(self, table: Table) -> str:
        """All parts and norms side by side."""
        place, width = self._table(table), self.source.form.width(table.group.width, table.norms)
        name = self._known(f"tl.zeros((BM, BN), {self.S})")
        for start, size in chunks(width):
            own, other = self._held(place, width, start, size), self._met(place, width, start, size)
            self._let(name, self._dotted(own, other, name))
        return name

    def _held(self, place: int, width: int, start: int, size: int) -> str:
        """Some columns of a table, of the rows, loaded once for all columns of a span."""
        name, k = f"a{place}_{start}", f"tl.arange(0, {size})"
        self.loads.append(
            f"{name} = tl.load(x{place} + first * {width} + (h[:, None] * {width} + ({k} + {start})[None, :]))"
        )
        self.of_rows.append(name)
        return name

    def _met(self, place: int, width: int, start: int, size: int) -> str:
        """The same of the columns at hand."""
        name, k = f"b{place}_{start}", f"tl.arange(0, {size})"
        z = f"z{place} + at * {width} + (j[None, :] * {width} + ({k} + {start})[:, None])"
        self.met.append(f"{name} = tl.load({z})")
        self.of_columns.append(name)
        return name

    def _parts(self, table: Table) -> str:
        """Each part once, those of the rows loaded once for all columns of a span."""
        place, form, K = self._table(table), self.source.form, coordinates(table.group.width)
        name, width = self._known(f"tl.zeros((BM, BN), {self.S})"), form.parts * K
        cut = [(p, start, size) for p in range(form.parts) for start, size in chunks(K)]
        own = {(p, start): self._held(place, width, p * K + start, size) for p, start, size in cut}
        others = {(p, start): self._met(place, width, p * K + start, size) for p, start, size in cut}
        for (a, b), (start, _) in itertools.product(form.pairs, chunks(K)):
            self._let(name, self._dotted(own[a, start], others[b, start], name))
        return self._with_norms(table, name)

    def _wide(self, table: Table) -> str:
        """The same chunk by chunk, all loaded for each tile."""
        place, form, chunk = self._table(table), self.source.form, wide_chunk(coordinates(table.group.width))
        name = self._known(f"tl.zeros((BM, BN), {self.S})")
        self._let("k", f"tl.arange(0, {chunk})")
        self._let("K", f"d{place} * {chunk}")
        self._let("W", f"K * {form.parts}")
        inside = []
        for p in range(form.parts):
            inside.append(f"p{p} = tl.load(x{place} + first * W + (h[:, None] * W + (k + c + K * {p})[None, :]))")
            inside.append(f"q{p} = tl.load(z{place} + at * W + (j[None, :] * W + (k + c + K * {p})[:, None]))")
        inside += [f"{name} = {self._dotted(f'p{a}', f'q{b}', name)}" for a, b in form.pairs]
        self.lines += [f"for c in tl.range(0, K, {chunk}):", *_indent(inside, 1)]
        return self._with_norms(table, name)

    def _with_norms(self, table: Table, product: str) -> str:
        """The products, and norms where they belong to them: last, since the card cuts digits off sums on their way."""
        if not table.norms:
            return product
        levels = Level.ROW, Level.COLUMN
        row, column = (self._vector(level, ("norms", table.group, table.factor)) for level in levels)
        return self._known(f"{product} + ({row} + {column})")

    def _dotted(self, x: str, z: str, name: str) -> str:
        return f"tl.dot({x}, {z}, {name}, input_precision={self.source.form.precision!r}, out_dtype={self.S})"

    def _over_coordinates(self, group: Group, joined_by: str, term: str) -> str:
        """The terms of all coordinates, joined; `term` is a text in x and z."""
        looped = group.width > MAX_UNROLLED_COLUMNS
        place = self._table(Table(group, "coordinates"))
        name = self._known(f"tl.full((BM, BN), {int(joined_by == 'product')}.0, {self.S})")
        joined = f"{name} = {name} {'+' if joined_by == 'sum' else '*'} {term}"
        z = f"tl.load(z{place} + {{k}} * ldz + at + j)[None, :]"
        if looped:
            x = f"tl.load(x{place} + (first * 0 + q) * ldx + i)[:, None]"
            z = z.format(k="(at * 0 + q)")
            self.lines += [f"for q in tl.range(0, d{place}):", *_indent([f"x = {x}", f"z = {z}", joined], 1)]
            return name
        for k in range(group.width):
            held = f"a{place}_{k}"
            if held not in self.of_rows:
                self.loads.append(f"{held} = tl.load(x{place} + {k} * ldx + i)[:, None]")
                self.of_rows.append(held)
            self.lines += [f"x = {held}", f"z = {z.format(k=k)}", joined]
        return name

    def _repair(self, group: Group, name: str) -> None:
        """Squared distances below the limit, where the product has cancelled, from differences."""
        place = self._table(Table(group, "coordinates"))
        x = f"tl.load(x{place} + (first * 0 + q) * ldx + i)[:, None]"
        z = f"tl.load(z{place} + (at * 0 + q) * ldz + at + j)[None, :]"
        self.lines += [
            f"near = {name} < {self._number(group, wide=True)}",
            "if tl.max(tl.max(near.to(tl.int32), 1), 0) > 0:",
            f"    gap = tl.zeros((BM, BN), {self.S})",
            f"    for q in tl.range(0, d{place}):",
            f"        apart = {x} - {z}",
            "        gap = gap + apart * apart",
            f"    {name} = tl.where(near, gap, {name})",
        ]

    def _norms(self, group: Group) -> str:
        row, column = (self._vector(level, ("norms", group)) for level in (Level.ROW, Level.COLUMN))
        return f"({row} + {column})"

    def _dot(self, group: Group) -> str:
        if group in self.products:
            inner = self.products[group]
        else:
            inner = f"0.5 * ({self._norms(group)} - {self.distances[group]})"
        if not self.methods[group].shifted:
            return inner
        row, column = (self._vector(level, ("shifts", group)) for level in (Level.ROW, Level.COLUMN))
        return f"{inner} + ({row} + {column})"

    def _total(self, joined: Total) -> str:
        if id(joined) not in self.totals:
            names: dict[Line, str] = {}
            texts: list[str] = []
            extra: list[str] = []
            term = lower_term(joined.term)
            for line in term:
                if line.operation in ("x", "z"):
                    names[line] = line.operation
                elif line.operation == "number":
                    names[line] = self._number(line.value, wide=True)
                    extra.append(f", {names[line]}")
                else:
                    names[line] = f"v{len(texts)}"
                    texts.append(f"v{len(texts)} = {self._expression(line, names)}")
            name, arguments = f"term{len(self.terms)}", f"x, z{''.join(extra)}"
            self.terms.append(_function(name, arguments, [*texts, f"return {names[term[-1]]}"]))
            found = self._over_coordinates(joined.group, joined.joined_by, f"{name}({arguments})")
            self.totals[id(joined)] = found
        return self.totals[id(joined)]

    # -- the formula ------------------------------------------------------------------------------------------------

    def _name(self, line: Line) -> str:
        if line.operation == "whole":
            return f"({line.value}.0)"
        if line.operation == "number":
            return self._number(line.value, wide=line.wide)
        if line.operation == "multiply" and self._is_folded(line):
            return self.distances[next(part for part in line.parts if part.operation == "square").value]
        if line.operation not in LEAF:
            return self._known(self._expression(line, self.names))
        if line.operation == "square" and line.value in self.factors:
            return ""  # its multiple is what is asked for
        text = self._statistic(line)
        return self._known(text if line.wide or self.S == self.T else f"({text}).to({self.T})")

    def _is_folded(self, line: Line) -> bool:
        return any(part.operation == "square" and part.value in self.factors for part in line.parts)

    def _statistic(self, line: Line) -> str:
        if line.operation in ("row", "column"):
            return self._vector(line.level, line.value)
        if line.operation == "total":
            return self._total(line.value)
        if line.operation == "dot":
            return self._dot(line.value)
        if line.operation == "square":
            return self.distances[line.value]
        if line.value not in self.roots:
            root = self._called("sqrt", self.S)
            self.roots[line.value] = self._known(f"{root}({self.distances[line.value]})")
        return self.roots[line.value]

    def _expression(self, line: Line, names: dict[Line, str]) -> str:
        parts = [names[part] for part in line.parts]
        operation = line.operation
        if operation == "whole":
            return f"({line.value}.0)"
        if operation == "angle":
            return parts[0]
        if operator := ARITHMETIC.get(operation) or COMPARISONS.get(operation):
            return f"{parts[0]} {operator} {parts[1]}"
        if operation in ("and", "or"):
            one, other = (_truth(part, names) for part in line.parts)
            return f"{one} {'&' if operation == 'and' else '|'} {other}"
        if operation == "select":
            chosen = _select(_truth(line.parts[0], names), *parts[1:])
            return f"{chosen}.to({self.S if line.wide else self.T})"
        if operation in ("minimum", "maximum"):
            return self._extreme(operation, parts, line.wide)
        dtype = self.S if line.wide else self.T
        blocks = [f"tl.full((1, 1), {p.value}.0, {dtype})" if p.operation == "whole" else names[p] for p in line.parts]
        return f"{self._called(operation, dtype)}({', '.join(blocks)})"

    def _extreme(self, operation: str, parts: list[str], wide: bool) -> str:
        """The smaller or the larger one; NaN stays."""
        x, y = parts
        if (self.S if wide else self.T) == "tl.float32":  # one instruction
            return f"tl.{operation}({x}, {y}, propagate_nan=tl.PropagateNan.ALL)"
        other = f"{x} {'>' if operation == 'minimum' else '<'} {y}"
        if y.isidentifier():  # and no number that is written out
            x = _select(f"{y} == {y}", x, y)
        return _select(other, y, x)

    def _called(self, operation: str, dtype: str) -> str:
        if operation == "sqrt" and dtype == "tl.float32":
            self.words.add("root")
            return "root"
        if operation in BUILT_IN:
            return BUILT_IN[operation]
        if operation in LIBRARY:
            return f"libdevice.{LIBRARY[operation]}"
        self.words.add(operation)
        return operation

    def _known(self, text: str) -> str:
        self.lines.append(f"known{len(self.lines)} = {text}")
        return f"known{len(self.lines) - 1}"

    def _let(self, name: str, text: str) -> None:
        self.lines.append(f"{name} = {text}")

    # -- functions --------------------------------------------------------------------------------------------------

    def at_sides(self) -> list[str]:
        """The functions that load what belongs to a block of rows, and to one of columns."""
        shared, found = shared_arguments(len(self.source.tables)), []
        if self.of_rows:
            lines = ["h = tl.arange(0, BM)", "i = first + h", *self.loads, f"return {', '.join(self.of_rows)}"]
            found.append(_function("at_rows", f"{shared}, first, BM: tl.constexpr", lines))
        if self.of_columns:
            lines = ["j = tl.arange(0, BN)", *self.met, f"return {', '.join(self.of_columns)}"]
            found.append(_function("at_columns", f"{shared}, at, BN: tl.constexpr", lines))
        return found

    def at_pairs(self) -> str:
        """The function that gives the values of a block of rows and a block of columns."""
        arguments = [shared_arguments(len(self.source.tables)), *self.of_rows, *self.of_columns, "first, at"]
        given = ", ".join([*arguments, "BM: tl.constexpr, BN: tl.constexpr"])
        head = ["h = tl.arange(0, BM)", "i = first + h", "j = tl.arange(0, BN)"]
        value, result = self.names[self.lowered.result], self.lowered.result
        if result.level is not Level.PAIR:
            value = f"tl.zeros((BM, BN), {self.T}) + {value}"
        return _function("at_pairs", given, [*head, *self.lines, f"return {value}"])


def _factors(lowered: Lowered, methods: dict[Group, Method]) -> dict[Group, float]:
    """With what squared distances are multiplied, for groups whose only use they have in one exponential.

    Then the factor is packed with the rows, and a product is the exponent.
    """
    found: dict[Group, set[float | None]] = {}
    for line in lowered.lines:
        for part in line.parts:
            if part.operation == "square":
                found.setdefault(part.value, set()).add(_factor(line, lowered))
    if lowered.result.operation == "square":
        found.setdefault(lowered.result.value, set()).add(None)
    return {
        group: factor
        for group, factors in found.items()
        if lowered.wanted[group] == {"square"}
        and methods[group].kind == "product"
        and len(factors) == 1
        and (factor := next(iter(factors))) is not None
    }


def _factor(line: Line, lowered: Lowered) -> float | None:
    """The number of a multiple of a squared distance that is an exponent, and nothing else."""
    number = line.parts[0]
    users = [other.operation for other in lowered.lines if line in other.parts]
    if line.operation != "multiply" or number.operation not in ("number", "whole") or not users:
        return None
    return float(number.value) if set(users) <= {"exp2_down", "exp2_parts"} else None


def _truth(line: Line, names: dict[Line, str]) -> str:
    return names[line] if line.operation in BOOLEAN else f"({names[line]} != 0.0)"


def _select(condition: str, chosen: str, otherwise: str) -> str:
    return f"tl.where({condition}, {chosen}, {otherwise})"


def _function(name: str, arguments: str, lines: Iterable[str]) -> str:
    return "\n".join(["@triton.jit", f"def {name}({arguments}):", *_indent(lines, 1)]) + "\n"


def _indent(lines: Iterable[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]


def _same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, tuple) and isinstance(other, tuple) and one == other)
