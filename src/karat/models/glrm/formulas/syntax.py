"""The parser of formulas in R's notation.

Operators, from the lowest precedence to the highest: `~`, then `|` and `||`, `+` and `-`, `*` and `/`, `:`, a leading
`-`, and `^` (or `**`). Names are letters, digits, dots and underscores; other names need backticks. The parser
evaluates nothing, and no formula is ever passed to Python's `eval`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from karat.messages import Message

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d][\w.]*|\.[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<comparison>[<>]=?|[!=]=)|(?P<operator>\|\||\*\*|[~+\-*:/^|(),=]))"
)
BINDING = {"~": 1, "|": 2, "||": 2, "+": 3, "-": 3, "*": 4, "/": 4, ":": 5, "^": 7}
LEADING_MINUS = 6


class FormulaError(ValueError):
    """A formula that cannot be parsed, or that names an unknown variable."""


@dataclass(frozen=True, slots=True)
class Name:
    """A column of the data."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float
    position: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of an argument, such as log(rt), with any further arguments, such as the 2 in poly(x, 2)."""

    function: str
    argument: Node
    position: int
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """An argument after the first; its name is empty if it has none."""

    name: str
    value: Node
    position: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A binary operator with its two operands."""

    operator: str
    left: Node
    right: Node
    position: int


@dataclass(frozen=True, slots=True)
class Minus:
    """A leading minus."""

    operand: Node
    position: int


@dataclass(frozen=True, slots=True)
class Brackets:
    """An expression in parentheses."""

    inner: Node
    position: int


Node = Name | Number | Call | Pair | Minus | Brackets


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the formula and its position, counted from 1."""

    kind: str
    text: str
    position: int


def parse(text: str) -> Pair:
    """Parse a formula with two sides into a tree.

    >>> tree = parse("correct ~ difficulty")
    >>> tree.left, tree.right
    (Name(text='correct', position=1), Name(text='difficulty', position=11))
    >>> parse("correct ~ a +")
    Traceback (most recent call last):
    ...
    karat.models.glrm.formulas.syntax.FormulaError: “correct ~ a +”, position 14: ...
    """
    reader = _Parser(text)
    tree = reader.expression(0)
    if reader.token.kind in ("name", "quoted", "number"):
        raise wrong(text, reader.token.position, Message("formula.no_operator", {"text": reader.token.text}))
    if reader.token.kind != "end":
        raise wrong(text, reader.token.position, Message("formula.unexpected", {"text": reader.token.text}))
    if not isinstance(tree, Pair) or tree.operator != "~":
        raise wrong(text, 1, Message("formula.no_response"))
    return tree


def wrong(text: str, position: int, problem: Message) -> FormulaError:
    """An error with the formula, the position and the problem.

    >>> str(wrong("y ~ x ~ z", 7, Message("formula.several_tildes")))
    '“y ~ x ~ z”, position 7: a formula has only one ~.'
    """
    return FormulaError(Message("formula.at", {"formula": text, "position": position, "problem": problem}))


def unparse(node: Node) -> str:
    """A part of the tree as R would print it."""
    match node:
        case Name(text, _):
            return text
        case Number(value, _):
            return repr(value).removesuffix(".0")
        case Call(function, argument, _, options):
            names = [f"{option.name} = " if option.name else "" for option in options]
            arguments = [name + unparse(option.value) for name, option in zip(names, options, strict=True)]
            return f"{function}({', '.join([unparse(argument), *arguments])})"
        case Brackets(inner, _):
            return f"({unparse(inner)})"
        case Minus(operand, _):
            return f"-{unparse(operand)}"
        case Pair(operator, left, right, _):
            close = operator in "^:"
            return f"{unparse(left)}{operator if close else f' {operator} '}{unparse(right)}"


class _Parser:
    """A precedence parser: an expression continues while its operators bind tighter than the one before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = iter(_tokens(text))
        self.token = next(self.tokens)

    def advance(self) -> Token:
        token = self.token
        self.token = next(self.tokens, token)
        return token

    def expression(self, least: int) -> Node:
        left = self.operand()
        while self.token.kind == "operator" and BINDING.get(self.token.text, 0) > least:
            operator = self.advance()
            binding = BINDING[operator.text]
            # Powers are right-associative, all other operators left-associative.
            right = self.expression(binding - 1 if operator.text == "^" else binding)
            left = Pair(operator.text, left, right, operator.position)
        return left

    def operand(self) -> Node:
        token = self.advance()
        if token.kind == "number":
            return Number(float(token.text), token.position)
        if token.kind == "name":
            if self.token.text == "(" and self.token.kind == "operator":
                opening = self.advance()
                argument, options = self.expression(0), []
                while self.token.text == "," and self.token.kind == "operator":
                    self.advance()
                    options.append(self.option())
                return Call(token.text, self.closed(argument, opening), token.position, tuple(options))
            return Name(token.text, token.position)
        if token.kind == "quoted":
            return Name(token.text, token.position)
        if token.text == "(":
            return Brackets(self.closed(self.expression(0), token), token.position)
        if token.text in "+-" and token.kind == "operator":
            operand = self.expression(LEADING_MINUS)
            return operand if token.text == "+" else Minus(operand, token.position)
        if token.text == "~":
            raise wrong(self.text, token.position, Message("formula.no_response"))
        if token.kind == "end":
            raise wrong(self.text, token.position, Message("formula.ends"))
        raise wrong(self.text, token.position, Message("formula.no_name", {"text": token.text}))

    def option(self) -> Option:
        position, value = self.token.position, self.expression(0)
        if self.token.text == "=" and isinstance(value, Name):
            self.advance()
            return Option(value.text, self.expression(0), position)
        return Option("", value, position)

    def closed(self, inner: Node, opening: Token) -> Node:
        if self.token.text in (",", "=") and self.token.kind == "operator":
            raise wrong(self.text, self.token.position, Message("formula.unexpected", {"text": self.token.text}))
        if self.token.text != ")":
            raise wrong(self.text, opening.position, Message("formula.open_bracket"))
        self.advance()
        return inner


def _tokens(text: str) -> list[Token]:
    tokens, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            position = at + len(text[at:]) - len(text[at:].lstrip()) + 1
            raise wrong(text, position, Message("formula.no_meaning", {"text": text[position - 1]}))
        kind = str(match.lastgroup)
        if kind == "comparison":
            raise wrong(text, match.start(kind) + 1, Message("formula.comparison", {"text": match[kind]}))
        word = "^" if match[kind] == "**" else match[kind]
        tokens.append(Token(kind, word, match.start(kind) + 1 - (kind == "quoted")))
        at = match.end()
    return [*tokens, Token("end", "", end + 1)]
