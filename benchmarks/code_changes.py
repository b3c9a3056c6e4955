"""Small changes of Python code that a good test should notice: who lists them, and who makes one of them.

Changed are the bodies of functions: a comparison, an operator of arithmetic or logic, a number, the test of a branch,
what is returned, a statement with an effect. What stands outside of functions, defaults and texts are left alone, and
assignments to plain names are not taken out: what is then undefined would be noticed by anyone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Site = tuple[ast.AST, str, Callable[[], None]]
"""Where, what, and who does it to the tree."""


@dataclass(frozen=True)
class Change:
    """One change of one file.

    path : of the file
    number : of the change among all of the file
    first, last : lines of the statement
    line : of the change
    what : in words
    """

    path: Path
    number: int
    first: int
    last: int
    line: int
    what: str

    def compiled(self) -> CodeType:
        """The module with this change, as code that is yet to be run; what is returned stands on the same lines."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        for number, (_, (_, _, make)) in enumerate(_sites(tree)):
            if number == self.number:
                make()
                break
        return compile(ast.fix_missing_locations(tree), str(self.path), "exec")


def changes(path: Path) -> list[Change]:
    """Every change of a file, in the order of its functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        Change(path, number, statement.lineno, _last(statement), getattr(node, "lineno", statement.lineno), what)
        for number, (statement, (node, what, _)) in enumerate(_sites(tree))
    ]


def _last(statement: ast.stmt) -> int:
    """The last line of a statement, or of its head where it has a body."""
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno


def _sites(tree: ast.Module) -> Iterator[tuple[ast.stmt, Site]]:
    for function in _functions(tree.body):
        yield from _of_body(function.body)


def _functions(body: list[ast.stmt]) -> Iterator[Function]:
    for node in body:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body)


def _of_body(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, Site]]:
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if _has_effect(statement):
            yield statement, (statement, "taken out", _put(body, at, ast.copy_location(ast.Pass(), statement)))
        for site in _of_head(statement):
            yield statement, site
        for below in _bodies(statement):
            yield from _of_body(below)


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    yield from (getattr(statement, name, []) for name in ("body", "orelse", "finalbody"))
    yield from (handler.body for handler in getattr(statement, "handlers", []))
    yield from (case.body for case in getattr(statement, "cases", []))


def _has_effect(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    return isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break)


def _of_head(statement: ast.stmt) -> Iterator[Site]:
    """Changes of a statement without the statements that it contains."""
    if isinstance(statement, ast.Return) and not _is_none(statement.value):
        yield statement, "returns None", _set(statement, "value", ast.Constant(None))
    for node in _within(statement):
        yield from _of_node(node)


def _is_none(node: ast.AST | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is below it: no statements, annotations, patterns or defaults of parameters."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call | ast.Lambda):
            continue
        for below in value if isinstance(value, list) else [value]:
            if isinstance(below, ast.expr | ast.comprehension | ast.keyword | ast.withitem):
                yield from _within(below)


def _of_node(node: ast.AST) -> Iterator[Site]:
    if isinstance(node, ast.Compare):
        yield from _of_comparison(node)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in COMPUTED:
        other = COMPUTED[type(node.op)]
        yield node, f"{type(node.op).__name__} becomes {other.__name__}", _set(node, "op", other())
    elif isinstance(node, ast.BoolOp):
        logic = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, f"becomes {type(logic).__name__}", _set(node, "op", logic)
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, "the test negated", _set(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, "the sign dropped", _set(node, "op", ast.UAdd())


def _of_comparison(node: ast.Compare) -> Iterator[Site]:
    for at, op in enumerate(node.ops):
        for other in COMPARED[type(op)]:
            yield node, f"{type(op).__name__} becomes {other.__name__}", _put(node.ops, at, other())


def _of_constant(node: ast.Constant) -> Iterator[Site]:
    if isinstance(node.value, bool):
        yield node, f"becomes {not node.value}", _set(node, "value", not node.value)
    elif isinstance(node.value, int | float):
        for value in (node.value + 1, node.value - 1):
            yield node, f"{node.value} becomes {value}", _set(node, "value", value)


def _set(node: ast.AST, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _put(body: list[Any], at: int, value: Any) -> Callable[[], None]:
    return lambda: body.__setitem__(at, value)
