"""The grammar of kernels in texts, read by recursive descent, never `eval`.

::

    sum     = product { "+" product }
    product = power { "*" power }
    power   = postfix [ "**" number ]
    postfix = atom { "." method "(" [ value { "," value } ] ")" }
    atom    = number | name [ "(" [ argument { "," argument } ] ")" ] | "(" sum ")"
    argument = [ name "=" ] value
    value   = [ "-" ] number | string | "[" [ value { "," value } ] "]" | sum

A number is the constant kernel; methods are those of `Kernel` (on, after, scaled, weighted, normalized). In after and
weighted a name alone is a function of the table `NAMED`: constant.weighted(exp).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, NoReturn

import mercer.kernels as catalog
from mercer.errors import KernelError, ParseError
from mercer.guesses import kernels as guesses
from mercer.guesses.parameters import told
from mercer.guesses.spelling import nearest
from mercer.kernels.algebra.named_functions import NAMED, unknown
from mercer.kernels.algebra.operations import ZERO, refuse_difference
from mercer.kernels.base import Kernel
from mercer.kernels.constant import Constant
from mercer.kernels.fields import MEDIAN, check_length
from mercer.kernels.lexer import MIXED, Token, tokens_of, unquoted

METHODS = ("after", "normalized", "on", "scaled", "weighted")
MAX_NESTING = 60
"""How deep parentheses and calls may nest: enough for any formula, and far from the limits of the stack."""
CLOSING = (",", "]", ")")
"""What may follow a value."""
MAX_NODES = 4096
"""Kernels of which a text composes one."""
WITH_FORMULAS = ("after", "weighted")


class KernelReader:
    """One pass over the tokens, by recursive descent."""

    def __init__(
        self, text: str, names: Mapping[str, Any], most: int, open: bool = False, signed: bool = False
    ) -> None:
        self.text = text
        self.names = names
        self.open = open
        self.signed = signed
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0
        self.nodes, self.most = 0, most

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self, symbol: str) -> bool:
        """Step over the next token if it is this symbol."""
        token = self.tokens[self.at]
        found = token.text == symbol and token.kind == "symbol"
        self.at += found
        return found

    def grow(self, token: Token) -> None:
        """Count one more kernel, before it is built."""
        self.nodes += 1
        if self.nodes > self.most:
            self.fail(f"A text composes at most {self.most:,} kernels, and here is one more", token)

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            self.fail(f"Here {symbol!r} is needed; got {self.next.text or 'the end'!r}")

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        raise self.failure(message, token or self.next)

    def failure(self, message: str, token: Token) -> ParseError:
        """An error that points at a token."""
        where = "at the end" if token.kind == "end" else f"at position {token.position}"
        return ParseError(f"{message} ({where}).", self.text, token.position, len(token.text))

    def built(self, token: Token, build: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """What `build` makes; its refusal is raised again with the place in the text."""
        try:
            return build(*arguments, **named)
        except ParseError:
            raise
        except (KernelError, TypeError) as error:
            raise ParseError(str(error), self.text, token.position, len(token.text)) from error

    def kernel(self) -> Kernel:
        if self.next.kind == "end":
            self.fail("A kernel is needed; got nothing")
        kernel = self.sum()
        if self.next.kind != "end":
            self.fail(f"{self.next.text!r} cannot stand here")
        return self.as_kernel(kernel, self.tokens[0])

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"The text nests deeper than {MAX_NESTING} levels")
        first = self.next
        minus: list[Any] = []
        parts = [] if self.takes_minus(minus) else [self.product()]
        while self.next.kind == "symbol" and self.next.text in ("+", "-"):
            operator = self.next
            self.at += 1
            parts[:1] = [self.as_kernel(part, first) for part in parts[:1]]
            if operator.text == "+" and self.takes_minus(minus):
                continue
            second = self.next
            right = self.as_kernel(self.product(), second)
            if operator.text == "-" and not self.signed:
                left = self.joined(operator, catalog.Sum, parts)
                self.built(operator, refuse_difference, left, right)
            (minus if operator.text == "-" else parts).append(right)
        self.depth -= 1
        if minus:
            return self.difference(first, parts, minus)
        return self.joined(first, catalog.Sum, parts)

    def takes_minus(self, minus: list[Any]) -> bool:
        """Whether a term with a minus in front was read, where those are read at all."""
        if not self.signed or not self.take("-"):
            return False
        token = self.next
        minus.append(self.as_kernel(self.product(), token))
        return True

    def difference(self, token: Token, parts: list[Any], minus: list[Any]) -> Kernel:
        """What is added, less what is taken away."""
        from mercer.kernels.proof.difference import Difference  # only proofs have differences

        plus = self.joined(token, catalog.Sum, parts) if parts else ZERO
        self.grow(token)
        return Difference(self.as_kernel(plus, token), self.joined(token, catalog.Sum, minus))

    def product(self) -> Any:
        first = self.next
        parts = [self.power()]
        while self.take("*"):
            parts[0] = self.as_kernel(parts[0], first)
            second = self.next
            parts.append(self.as_kernel(self.power(), second))
        return self.joined(first, catalog.Product, parts)

    def joined(self, token: Token, build: type[Kernel], parts: list[Any]) -> Any:
        """A sum or a product of all its parts at once: one after the other would take the square of the time."""
        if len(parts) == 1:
            return parts[0]
        self.grow(token)
        return self.built(token, build, tuple(parts))

    def power(self) -> Any:
        first = self.next
        base = self.postfix()
        if not self.take("**"):
            return base
        token = self.next
        self.grow(token)
        # The first power too is one: it prints as such. In Python k ** 1 is k.
        return self.built(token, catalog.Power, self.as_kernel(base, first), self.number())

    def postfix(self) -> Any:
        first, start = self.next, self.at
        value = self.atom()
        while self.take("."):
            token = self.next
            if token.text == "scaled" and self.open:
                return self.closed_postfix(start)
            if token.kind != "name" or token.text not in METHODS:
                self.fail(f"A kernel has no method {token.text!r} in texts.{_nearest(token.text, METHODS)}")
            self.at += 1
            self.grow(token)
            method = getattr(self.as_kernel(value, first), token.text)
            self.expect("(")
            positional, named = self.arguments(of_rows=token.text in WITH_FORMULAS)
            if token.text in WITH_FORMULAS:
                self.charge(token, (*positional, *named.values()))
            value = self.built(token, method, *positional, **named)
        return value

    def charge(self, token: Token, given: Iterable[Any]) -> None:
        """Count each letter of formulas as a kernel, before they are read: that takes as long."""
        lists = (each if isinstance(each, list) else [each] for each in given)
        self.nodes += sum(len(text) for texts in lists for text in texts if isinstance(text, str))
        if self.nodes > self.most:
            self.fail(f"A text composes at most {self.most:,} kernels and letters of formulas, and here is more", token)

    def closed_postfix(self, start: int) -> Any:
        """What is scaled, read once more: its lengthscales are those that `scaled` gives."""
        self.at, self.open = start, False
        value = self.postfix()
        self.open = True
        return value

    def atom(self) -> Any:
        token = self.next
        if token.kind == "number":
            return self.number()
        if self.take("("):
            inside = self.sum()
            self.expect(")")
            return inside
        if token.kind == "symbol" and token.text == "-" and self.signed:
            self.fail("A minus stands in front of a term, as in linear - 2*gaussian")
        if token.kind == "symbol" and token.text == "-":
            self.fail('A kernel takes no negative number; mercer.prove("...") reads differences, and judges them')
        if token.kind != "name":
            self.fail(f"A kernel is needed; got {token.text or 'the end'!r}")
        return self.named()

    def named(self) -> Any:
        token = self.next
        self.at += 1
        thing = self.names.get(token.text, self.names.get(token.text.lower()))
        if thing is None:
            hint = MIXED if token.text in ("x", "y", "z") else f" {guesses.hint(token.text, list(self.names))}"
            self.fail(f"There is no kernel {token.text!r}.{hint}", token)
        is_kernel = isinstance(thing, type) and issubclass(thing, Kernel)
        if thing is catalog.exp and self.next.text != "(":
            self.fail("exp needs a kernel inside, as in exp(linear)", token)
        if is_kernel or callable(thing):
            self.grow(token)
        called = self.take("(")
        if called and isinstance(thing, Kernel):
            self.fail(f"{token.text} is {str(thing)!r}, and takes no parameters of its own", token)
        if not (called or is_kernel):
            return thing
        positional, named = self.arguments() if called else ([], {})
        if is_kernel:
            self.check_names(token, thing, len(positional), named)
            named = self.opened(thing, len(positional), named)
        return self.built(token, thing, *positional, **named)

    def opened(self, kernel: type[Kernel], positional: int, named: dict[str, Any]) -> dict[str, Any]:
        """The named arguments, and "median" for a lengthscale that is not among all arguments and can be found."""
        left = [item.name for item in fields(kernel) if item.metadata.get("check") is check_length][:1]
        known = [item.name for item in fields(kernel)][:positional]
        return named | {name: MEDIAN for name in left if self.open and name not in (*known, *named)}

    def check_names(self, token: Token, kernel: type[Kernel], positional: int, named: dict[str, Any]) -> None:
        """Refuse parameters that a kernel does not have."""
        known = [item.name for item in fields(kernel)]
        if not named.keys() <= set(known):
            said = told(kernel.__name__, known, dict.fromkeys(known[:positional]) | named)
            self.fail(said.removesuffix("."), token)
        if positional > len(known) or set(known[:positional]) & set(named):
            takes = f"{', '.join(known)}, each once" if known else f"no parameter; a factor is written 2*{kernel.name}"
            self.fail(f"{kernel.__name__} takes {takes}", token)

    def arguments(self, of_rows: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """What stands in parentheses, the closing one included.

        of_rows : whether a name alone is that of a function of rows
        """
        positional: list[Any] = []
        named: dict[str, Any] = {}
        while not self.take(")"):
            if positional or named:
                self.expect(",")
            token, after = self.next, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
            if token.kind == "name" and after.text == "=":
                if token.text in named:
                    self.fail(f"{token.text!r} is given twice")
                self.at += 2
                named[token.text] = self.function() if of_rows else self.value()
            else:
                positional.append(self.function() if of_rows else self.value())
        return positional, named

    def function(self) -> Any:
        """A named function, or one that the program gave a name; else a value."""
        token, after = self.next, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.kind != "name" or after.text not in CLOSING:
            return self.value()
        thing = self.names.get(token.text)
        given = thing is not None and thing is not catalog.exp and not _is_kernel(thing)
        if given or not (token.text in NAMED or thing is None):
            return self.value()
        if token.text not in NAMED:
            self.fail(f"There is no function {token.text!r}. {unknown(token.text)}".removesuffix("."), token)
        self.at += 1
        return NAMED[token.text].function

    def value(self) -> Any:
        if self.take("["):
            return self.listed()
        token = self.next
        if token.kind == "string":
            self.at += 1
            return unquoted(token, self.text)
        if token.text == "-" and token.kind == "symbol" and not (self.signed and self.follows_kernel()):
            self.at += 1
            return -self.number()
        if token.kind == "number" and self.tokens[self.at + 1].text in CLOSING:  # one that stands alone, in long lists
            return self.number()
        return self.sum()

    def follows_kernel(self) -> bool:
        """Whether behind a minus more than a number follows."""
        after = self.tokens[self.at + 1 : self.at + 3]
        return after[0].kind != "number" or after[-1].text not in CLOSING

    def listed(self) -> list[Any]:
        found: list[Any] = []
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"The text nests deeper than {MAX_NESTING} levels")
        while not self.take("]"):
            if found:
                self.expect(",")
            found.append(self.value())
        self.depth -= 1
        return found

    def number(self) -> int | float:
        token = self.next
        if token.kind != "number":
            self.fail(f"A number is needed; got {token.text or 'the end'!r}")
        found = int(token.text) if token.text.isdigit() and len(token.text) < 16 else float(token.text)
        if found == math.inf:  # it would be written as a name
            self.fail(f"Here a finite number is needed; got {token.text[:20]!r}")
        self.at += 1
        return found

    def as_kernel(self, value: Any, token: Token) -> Kernel:
        """A kernel as it is, a number as the constant kernel."""
        if isinstance(value, Kernel):
            return value
        if isinstance(value, int | float):
            self.grow(token)
            return self.built(token, Constant, value)  # type: ignore[no-any-return]
        raise self.failure(f"A kernel is needed, and {token.text!r} is none", token)


def _is_kernel(thing: Any) -> bool:
    return isinstance(thing, Kernel) or (isinstance(thing, type) and issubclass(thing, Kernel))


def _nearest(name: str, known: Iterable[str]) -> str:
    """A sentence about a name that is none of those that are known: of which it is a typo, or what there is."""
    typo = nearest(name, known)
    return f" Did you mean {typo!r}?" if typo else f" Known: {', '.join(sorted(known)) or 'none'}."
