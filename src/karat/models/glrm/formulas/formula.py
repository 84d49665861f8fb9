"""The meaning of a formula: its response, fixed terms and random terms.

`a*b` is `a + b + a:b`; `a/b` is `a + a:b`; `(a + b)^2` is all terms up to pairs; `-` removes a term, and `0` or `-1`
the intercept. As in R, terms are ordered by their number of variables, then by position. Random terms are in
parentheses:

    (1 + x | g)    intercept and slope of x for every level of g, correlated
    (1 + x || g)   the same, uncorrelated; if x is a factor, so are its columns (in lme4 they remain correlated)
    (1 | a/b)      (1 | a) + (1 | a:b): the levels of b within levels of a

Numbers are numeric variables; text and booleans are factors, as are `factor(x)` and `as.factor(x)`, and `ordered(x)` as
the response. Functions of numbers are `log`, `log2`, `log10`, `log1p`, `exp`, `sqrt`, `abs`, `scale` (which subtracts
the mean and divides by the standard deviation; with `scale = FALSE` it only subtracts the mean) and `I()` with
arithmetic; `as.numeric` converts text to numbers. `poly(x, 2)` has two columns, orthogonal and of length 1 as in R. The
response may be arithmetic without `I()`, such as -1000 / rt.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from karat.messages import Message
from karat.models.glrm.formulas.syntax import (
    Brackets,
    Call,
    FormulaError,
    Minus,
    Name,
    Node,
    Number,
    Pair,
    parse,
    unparse,
    wrong,
)

Term = tuple[str, ...]
"""The labels of the variables in a term; empty for the intercept."""
FACTORS = ("factor", "as.factor", "ordered")
"""Functions that turn a column into a factor."""
FUNCTIONS = (
    "factor", "as.factor", "as.numeric", "I", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "scale", "poly",
)  # fmt: skip
TRUTH = {"TRUE": True, "T": True, "FALSE": False, "F": False}
MOST_DEGREES = 9
__all__ = ["Expansion", "Formula", "FormulaError", "FormulaVariable", "RandomPart", "Term", "names_in", "read_formula"]


@dataclass(frozen=True, slots=True)
class FormulaVariable:
    """A variable of a formula: a column, or a function of columns."""

    label: str
    tree: Node
    text: str
    """The formula, for messages."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Terms in R's order, and whether they include an intercept."""

    terms: tuple[Term, ...]
    intercept: bool

    def labels(self) -> tuple[str, ...]:
        """The names of the terms in tables.

        >>> read_formula("y ~ a * b + (1 | g)").fixed.labels()
        ('(Intercept)', 'a', 'b', 'a:b')
        """
        return ("(Intercept)",) * self.intercept + tuple(":".join(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class RandomPart:
    """A random term in parentheses: effects that vary over the levels of a group."""

    effects: Expansion
    group: tuple[str, ...]
    correlated: bool
    position: int


@dataclass(frozen=True, slots=True)
class Formula:
    """An expanded formula."""

    text: str
    response: FormulaVariable
    fixed: Expansion
    random: tuple[RandomPart, ...]
    variables: dict[str, FormulaVariable]
    """The variables on the right, by label, in order of appearance."""

    def __str__(self) -> str:
        return self.text


def read_formula(text: str) -> Formula:
    """Parse and expand a formula.

    >>> formula = read_formula("correct ~ difficulty * condition + (1 | participant) + (1 + condition | item)")
    >>> formula.fixed.terms
    (('difficulty',), ('condition',), ('difficulty', 'condition'))
    >>> [(part.group, part.effects.labels()) for part in formula.random]
    [(('participant',), ('(Intercept)',)), (('item',), ('(Intercept)', 'condition'))]
    """
    tree = parse(text)
    response = _response(tree.left, text)
    expander = _Expander(text)
    bars: list[Pair] = []
    fixed = expander.expansion(tree.right, bars)
    # The random terms are expanded last, so that variables are in the order of the fixed effects.
    random = tuple(part for bar in bars for part in expander.random(bar))
    return Formula(text, response, fixed, random, expander.variables)


def names_in(node: Node) -> list[Name]:
    """The columns that a part of a formula refers to."""
    match node:
        case Name():
            return [node]
        case Call(argument=inner) | Brackets(inner, _) | Minus(inner, _):
            return names_in(inner)
        case Pair(_, left, right, _):
            return names_in(left) + names_in(right)
    return []


class _Expander:
    """Expands a tree into terms and collects their variables."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables: dict[str, FormulaVariable] = {}
        self.intercept = True

    def expansion(self, node: Node, bars: list[Pair] | None) -> Expansion:
        """Expand a sum of terms; random terms go to `bars`, or are an error if that is None."""
        self.intercept = True
        terms = self.terms(node, bars)
        place = {label: number for number, label in enumerate(self.variables)}
        ordered = dict.fromkeys(tuple(sorted(term, key=place.__getitem__)) for term in terms if term)
        return Expansion(tuple(sorted(ordered, key=len)), self.intercept)

    def terms(self, node: Node, bars: list[Pair] | None) -> list[frozenset[str]]:
        match node:
            case Number(value, position):
                return self.number(value, position)
            case Name() | Call():
                _check_functions(node, self.text)
                variable = FormulaVariable(unparse(node), node, self.text)
                self.variables.setdefault(variable.label, variable)
                return [frozenset({variable.label})]
            case Brackets(Pair(("|" | "||"), _, _, _) as bar, position):
                if bars is None:
                    raise wrong(self.text, position, Message("formula.random_product"))
                bars.append(bar)
                return []
            case Brackets(inner, _):
                return self.terms(inner, bars)
            case Pair(("|" | "||"), _, _, position):
                raise wrong(self.text, position, Message("formula.bare_bar"))
            case Minus(operand, _):
                return self.without([], operand)
            case Pair():
                return self.pair(node, bars)
        return []

    def number(self, value: float, position: int) -> list[frozenset[str]]:
        if value not in (0, 1):
            raise wrong(self.text, position, Message("formula.number", {"number": value}))
        self.intercept = value == 1
        return [frozenset()] * self.intercept

    def pair(self, node: Pair, bars: list[Pair] | None) -> list[frozenset[str]]:
        if node.operator == "+":
            return _unique([*self.terms(node.left, bars), *self.terms(node.right, bars)])
        if node.operator == "-":
            return self.without(self.terms(node.left, bars), node.right)
        if node.operator == "~":
            raise wrong(self.text, node.position, Message("formula.several_tildes"))
        left = self.terms(node.left, None)
        if node.operator == "^":
            return _power(left, self.exponent(node.right))
        right = self.terms(node.right, None)
        crossed = [a | b for a in left for b in right]
        if node.operator == ":":
            return _unique(crossed)
        if node.operator == "/":
            return _unique([*left, *(frozenset().union(*left) | b for b in right)])
        return _unique([*left, *right, *crossed])

    def without(self, terms: list[frozenset[str]], node: Node) -> list[frozenset[str]]:
        """The terms without those of a node, which may include the intercept."""
        before = self.intercept
        removed = self.terms(node, None)
        if isinstance(node, Number):
            self.intercept = not self.intercept
        else:
            self.intercept = before and frozenset() not in removed
        return [term for term in terms if term not in removed]

    def exponent(self, node: Node) -> int:
        if isinstance(node, Number) and node.value in range(1, 10):
            return int(node.value)
        raise wrong(self.text, node.position, Message("formula.power"))

    def random(self, bar: Pair) -> Iterable[RandomPart]:
        effects = self.expansion(bar.left, None)
        if not effects.terms and not effects.intercept:
            raise wrong(self.text, bar.position, Message("formula.empty_random"))
        for group in self.groups(bar.right):
            yield RandomPart(effects, group, bar.operator == "|", bar.position)

    def groups(self, node: Node) -> list[tuple[str, ...]]:
        match node:
            case Name(text, _):
                return [(text,)]
            case Brackets(inner, _):
                return self.groups(inner)
            case Call("factor" | "as.factor", Name(text, _), _, ()):
                return [(text,)]
            case Pair(":", left, right, _):
                return [(*self.groups(left)[-1], *self.groups(right)[-1])]
            case Pair("/", left, right, _):
                outer = self.groups(left)
                return [*outer, *((*outer[-1], *inner) for inner in self.groups(right))]
        raise wrong(self.text, node.position, Message("formula.group"))


def scale_divides(call: Call) -> bool:
    """Whether scale() divides by the standard deviation, as it does without scale = FALSE.

    >>> [scale_divides(read_formula(f"scale(x{option}) ~ 1").response.tree) for option in ("", ", scale = FALSE")]
    [True, False]
    """
    values = [option.value for option in call.options if option.name == "scale"]
    return all(TRUTH[value.text] for value in values if isinstance(value, Name))


def degree(call: Call) -> int:
    """The degree of poly().

    >>> degree(read_formula("y ~ poly(x, degree = 3)").variables["poly(x, degree = 3)"].tree)
    3
    """
    return next((int(option.value.value) for option in call.options if isinstance(option.value, Number)), 1)


def _response(node: Node, text: str) -> FormulaVariable:
    """The response: a column, a function of a column, or arithmetic."""
    match node:
        case Brackets(inner, _):
            return _response(inner, text)
        case Call("poly"):
            raise wrong(text, node.position, Message("formula.response"))
        case Call("cbind"):
            raise wrong(text, node.position, Message("formula.counts"))
        case Call("ordered", Name(), _, ()):
            return FormulaVariable(unparse(node), node, text)
    if not names_in(node):
        raise wrong(text, node.position, Message("formula.response"))
    _check_functions(node, text)
    return FormulaVariable(unparse(node), node, text)


def _check_functions(node: Node, text: str) -> None:
    match node:
        case Call(function, argument, position):
            if function == "ordered":
                raise wrong(text, position, Message("formula.ordered"))
            if function not in FUNCTIONS:
                values = {"function": function, "known": list(FUNCTIONS)}
                raise wrong(text, position, Message("formula.no_function", values))
            if function in FACTORS and not isinstance(argument, Name):
                raise wrong(text, position, Message("formula.factor"))
            if function == "as.numeric" and not isinstance(argument, Name):
                raise wrong(text, position, Message("formula.as_numeric"))
            _check_options(node, text)
            _check_functions(argument, text)
        case Brackets(inner, _) | Minus(inner, _):
            _check_functions(inner, text)
        case Pair(operator, left, right, position):
            if operator not in "+-*/^":
                raise wrong(text, position, Message("formula.arithmetic", {"operator": operator}))
            _check_functions(left, text)
            _check_functions(right, text)


def _check_options(call: Call, text: str) -> None:
    """Raise FormulaError if a function has options that are not supported."""
    for option in call.options:
        if call.function == "scale":
            truth = TRUTH.get(option.value.text) if isinstance(option.value, Name) else None
            if truth is None or option.name not in ("center", "scale") or (option.name == "center" and not truth):
                raise wrong(text, option.position, Message("formula.scale"))
        elif call.function != "poly":
            raise wrong(text, option.position, Message("formula.one_argument", {"function": call.function}))
    if call.function == "poly":
        only = call.options[0] if len(call.options) == 1 else None
        size = only.value.value if only and isinstance(only.value, Number) else 0
        if only is None or only.name not in ("", "degree") or size not in range(1, MOST_DEGREES + 1):
            raise wrong(text, call.position, Message("formula.poly", {"most": MOST_DEGREES}))


def _unique(terms: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    return list(dict.fromkeys(terms))


def _power(terms: list[frozenset[str]], exponent: int) -> list[frozenset[str]]:
    """All products of this many terms, without repeats, which are removed at each step to keep the list short."""
    power = terms
    for _ in range(exponent - 1):
        power = _unique(a | b for a in power for b in terms)
    return power
