"""The reference of Python, one page per package, from signatures and docstrings.

A sentence of a docstring that begins with a parameter (`` `formula` is written as in R ``) describes it. Criteria
describe their settings where they declare them, and what is the same in all functions is described here.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from doctest import DocTestParser
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from karat.errors import KaratError
from karat.study.criteria import CRITERIA

PACKAGES = {
    "karat": ("karat", "karat.judgments.scales"), "study": ("karat.study", "karat.study.chance"),
    "intake": ("karat.intake",), "screen": ("karat.screen",), "measure": ("karat.measure",),
    "simulate": ("karat.simulate",), "report": ("karat.report",), "datasets": ("karat.datasets",),
    "executors": ("karat.executors",),
}  # fmt: skip
"""The pages, and the modules on each of them."""
SHARED = {
    "judgments": "The judgments.",
    "level": "The level of confidence intervals.",
    "seed": "The seed for everything random.",
    "samples": "The number of bootstrap samples.",
    "question": "The question to look at, if the judgments have several.",
    "conditions": "The condition columns; by default those of the design.",
    "functions": "The item functions to include.",
    "progress": "A function that is called at each step.",
    "executor": "Where independent jobs run: see `karat.executors.open_executor`.",
    "study": "The study, from `karat.study.load`.",
    "width_cm": "The width of the figure in centimetres.",
    "language": "The language of sentences, such as `en` or `de`.",
    "adjust": "The adjustment of p values for multiple comparisons.",
    "alpha": "The significance level.",
    "correlations": "The kind of correlations.",
    "decimal": "The decimal mark of the file.",
    "delimiter": "What separates the columns of the file.",
    "doubtful": "What happens to trials whose right answer is doubtful: see `gold`.",
    "encoding": "The encoding of the file.",
    "formula": "The model, written as in R's lme4.",
    "machines": "The participants who are machines: names, patterns or COLUMN=VALUE.",
    "margin": "How much more often than a machine a participant may agree better.",
    "matrix": "The ratings, from `ratings_matrix`, or their correlations.",
    "name": "The name, for messages.",
    "neutral": 'The group for which the middle point is right: "grammatical", "ungrammatical", "both", or None for '
    "neither.",
    "observations": "How many observations are behind correlations.",
    "points": "The number of points of the scale.",
    "rt_unit": "The unit of the response times.",
    "rules": "The rules, as in `[screening]` of a study file.",
    "sheet": "The sheet of a workbook.",
    "spread": "How much participants and items differ.",
    "strengths": "The result of `strengths`.",
    "weights": "How often a guesser chooses each point of the scale; by default all alike.",
}
"""Parameters that mean the same everywhere."""
PLAIN = (
    (r"<(?:[^<>]|<[^<>]*>)* at 0x\w+>", "..."), (r"<class '(\w+)'>", r"\1"), (r"mappingproxy\((.*?)\)", r"\1"),
    (r"<factory>", "..."),
)  # fmt: skip
"""Defaults as a reader would write them: three dots for objects without a spelling, such as functions."""
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"])|[;,]\s+(?=`\w+` )")
LIST = re.compile(r"^(`\w+`)\n(?=`\w+`)", re.MULTILINE)
"""Where a list of parameters was taken for several sentences."""
SUBJECT = re.compile(r"((?:`\w+(?:=[^`]*)?`(?:, | and | or )?)+)\s*(.*)", re.DOTALL)
SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
TEST_ONLY = ("pytest",)
"""What examples import only to be tested."""


@dataclass(frozen=True)
class Docstring:
    """What a docstring says: a summary, further paragraphs, parameters, and an example."""

    summary: str
    paragraphs: tuple[str, ...]
    parameters: dict[str, str]
    example: str


def python_page(package: str) -> str:
    """The page of a package: what each function takes, returns and raises, with an example."""
    modules = [import_module(name) for name in PACKAGES[package]]
    text = [f"# {modules[0].__name__}\n\n{read_docstring(modules[0]).summary}\n"]
    seen: set[str] = set()
    for module in modules:
        own = [name for name in public_names(module) if name not in seen]
        seen.update(own)
        if module is not modules[0] and own:
            text.append(f"\n## {module.__name__}\n\n{read_docstring(module).summary}\n")
        depth = "##" if module is modules[0] else "###"
        text += [f"\n{depth} {name} {{ #{module.__name__}.{name} }}\n\n{_entry(module, name)}" for name in own]
    return "".join(text)


@cache
def public_names(module: ModuleType) -> list[str]:
    """The public names of a module: functions and constants, then classes, then errors."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]  # fmt: skip
    things = {name: getattr(module, name) for name in names}
    shown = [name for name, thing in things.items() if not inspect.ismodule(thing)]
    return sorted(shown, key=lambda name: (inspect.isclass(things[name]) + _is_error(things[name]), name))


@cache
def read_docstring(thing: object) -> Docstring:
    """The docstring of anything, in its parts.

    >>> read_docstring(python_page).summary
    'The page of a package: what each function takes, returns and raises, with an example.'
    """
    text = inspect.getdoc(thing) or ""
    prose, _, _ = text.partition(">>> ")
    example = text[len(prose) :]
    sections = SECTION.split(prose)
    paragraphs = [" ".join(one.split()) for one in sections[0].strip().split("\n\n")]
    named = dict(zip(sections[1::2], sections[2::2], strict=True))
    described = {
        name.strip(): " ".join(body.split())
        for name, body in re.findall(r"^(\w+).*\n((?:[ \t]+.*\n?|\n)+)", named.get("Parameters", ""), re.MULTILINE)
    }
    if inspect.isfunction(thing):
        paragraphs[1:], found = _divided(paragraphs[1:], set(_parameters(thing)))
        described = found | described
    return Docstring(paragraphs[0], tuple(paragraphs[1:]), described, example)


def _divided(paragraphs: list[str], names: set[str]) -> tuple[list[str], dict[str, str]]:
    """The paragraphs without the sentences that begin with parameters, and these sentences by parameter."""
    rest: list[str] = []
    described: dict[str, str] = {}
    for paragraph in paragraphs:
        others = []
        for sentence in LIST.sub(r"\1, ", "\n".join(SENTENCE.split(paragraph))).split("\n"):
            match = SUBJECT.match(sentence)
            subjects = re.findall(r"`(\w+)", match[1]) if match else []
            if match and subjects and set(subjects) <= names:
                alone = len(subjects) == 1 and "=" not in match[1]
                result = _capital(re.sub(r"^(?:is|are|says?) ", "", match[2])) if alone else sentence
                result = re.sub(r"^.*?\b(?:[Tt]hat|[Tt]hose) of (?=`)", "As in ", result)
                for name in subjects:
                    described[name] = f"{described.get(name, '')} {_stopped(result)}".strip()
            else:
                others.append(_stopped(sentence))
        rest += [" ".join(others)] if others else []
    return rest, described


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _stopped(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", ":")) else f"{sentence}."


def _is_error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def _entry(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    if inspect.isclass(thing):
        return _class_entry(module, name, thing)
    if inspect.isroutine(thing):
        return _function_entry(module, name, thing)
    return f"{_constant_docstring(name, thing) or 'A constant.'}\n"


def _constant_docstring(name: str, value: object) -> str:
    """The string below a constant, in whichever file of karat has it."""
    homes = [
        module
        for key, module in sorted(sys.modules.items())
        if key.startswith("karat.") and vars(module).get(name) is value
    ]
    return next((text[name] for text in map(_documented_attributes, homes) if name in text), "")


def _function_entry(module: ModuleType, name: str, function: Callable[..., Any]) -> str:
    parts = read_docstring(function)
    text = [_signature(f"{module.__name__}.{name}", function), "\n\n".join([parts.summary, *parts.paragraphs]), "\n"]
    kinds = {one: _kind(kind, function) for one, kind in _written(function).items()}
    taken = "".join(
        f"- `{one.name}`: `{kinds.get(one.name)}`{_default(one)}. {_meaning(function, one.name)}".rstrip() + "\n"
        for one in _parameters(function).values()
    )
    returned = _written(function).get("return", "None")
    errors = sorted(_raised(function, set()), key=lambda error: error.__name__)
    raised = "".join(f"- `{error.__name__}`: {_sentence(error)}\n" for error in errors)
    given = f"- {_linked(returned, module)}\n" if returned != "None" else ""
    for title, items in (("Parameters", taken), ("Returns", given), ("Raises", raised)):
        text += [f"\n**{title}**\n\n", items] if items else []
    return "".join([*text, _example(module, function, parts.example)])


def _class_entry(module: ModuleType, name: str, cls: type) -> str:
    parts = read_docstring(cls)
    bases = [base for base in cls.__mro__ if base.__module__.startswith("karat")]
    text = ["\n\n".join([parts.summary, *parts.paragraphs]), "\n"]
    if not _is_error(cls) and "__init__" in vars(cls) and cls not in _returned(module):
        text.insert(0, _signature(f"{module.__name__}.{name}", cls))
    attributes: dict[str, str] = {}
    methods: dict[str, str] = {}
    for base in reversed(bases):
        result = _documented_attributes(base)
        for one, kind in _written(base).items():
            attributes[one] = result.get(one) or attributes.get(one) or f"`{_kind(kind, base)}`"
        for one, value in vars(base).items():
            if isinstance(value, property) or type(value).__name__ == "cached_property":
                attributes[one] = _sentence(value)
            elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
                function: Any = getattr(value, "__func__", value)
                methods[one] = f"`{_call(one, function)}`: {_sentence(function)}"
    shown = {one: f"`{one}`: {result}" for one, result in attributes.items()}
    for title, found in (("Attributes", shown), ("Methods", methods)):
        public = [result for one, result in found.items() if not one.startswith("_")]
        text += [f"\n**{title}**\n\n", *(f"- {result}\n" for result in public)] if public else []
    return "".join([*text, _example(module, cls, parts.example)])


@cache
def _returned(module: ModuleType) -> set[object]:
    """The classes that functions of a module return, which nobody makes by hand."""
    functions = [getattr(module, name) for name in public_names(module) if inspect.isroutine(getattr(module, name))]
    return {getattr(module, _written(one).get("return", ""), None) for one in functions} - {None}


@cache
def _written(thing: Any) -> dict[str, str]:
    """The annotations of a function or a class as its file has them, which need not be those that Python evaluates."""
    own = vars(thing).get("__annotations__", {}) if inspect.isclass(thing) else thing.__annotations__
    if all(isinstance(kind, str) for kind in own.values()):
        return dict(own)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(thing))).body
    if isinstance(node, ast.ClassDef):
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        return {ast.unparse(one.target): ast.unparse(one.annotation) for one in fields}
    if not isinstance(node, ast.FunctionDef):
        raise KaratError(f"{thing} is neither a function nor a class.")
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    found = {one.arg: one.annotation for one in every if one is not None} | {"return": node.returns}
    return {name: ast.unparse(kind) for name, kind in found.items() if kind is not None}


def _signature(name: str, thing: Callable[..., Any]) -> str:
    """A call with one argument per line where it would be long."""
    call = _call(name, thing)
    if len(call) > 88:
        arguments = re.sub(r"^\(|\)$", "", call[len(name) :])
        lines = textwrap.wrap(arguments, 84, break_long_words=False, break_on_hyphens=False)
        call = f"{name}(\n    " + "\n    ".join(lines) + "\n)"
    return f"```py\n{call}\n```\n\n"


def _call(name: str, thing: Callable[..., Any]) -> str:
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in _parameters(thing).values()]
    return f"{name}{_plainly(str(inspect.Signature(bare)))}"


def _plainly(text: str) -> str:
    for seen, said in PLAIN:
        text = re.sub(seen, said, text)
    return text


def _parameters(thing: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(thing).parameters
    return {name: one for name, one in found.items() if not name.startswith("_") and name not in ("self", "cls")}


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    shown = _plainly(repr(parameter.default))
    return ", optional" if shown == "..." else f", default `{shown}`"


def _meaning(function: Callable[..., Any], parameter: str) -> str:
    criterion = CRITERIA.get(function.__name__)
    settings = criterion.settings.model_fields if criterion and "criteria" in function.__module__ else {}
    described = (settings[parameter].description or "") if parameter in settings else ""
    return read_docstring(function).parameters.get(parameter) or described or SHARED.get(parameter, "")


def _kind(annotation: str, owner: Any) -> str:
    """An annotation with the options of its literals spelt out."""
    module = vars(sys.modules[owner.__module__])

    def options(match: re.Match[str]) -> str:
        alias = module.get(match[0])
        return "{" + ", ".join(map(repr, get_args(alias))) + "}" if get_origin(alias) is Literal else match[0]

    return re.sub(r"\bLiteral\[(.*?)\]", r"{\1}", re.sub(r"\b[A-Z]\w+\b", options, annotation))


def _linked(annotation: str, module: ModuleType) -> str:
    """What is returned, with a link where it is a class of the same page."""
    thing = getattr(module, annotation, None) if annotation.isidentifier() else None
    if inspect.isclass(thing) and annotation in public_names(module):
        return f"[`{annotation}`](#{module.__name__}.{annotation}): {_sentence(thing)}"
    return f"`{annotation}`"


def _sentence(thing: object) -> str:
    return read_docstring(thing).summary


def _followed(called: Callable[..., Any], function: Callable[..., Any]) -> bool:
    return called.__module__ == function.__module__ or called.__name__.startswith("check_")


def _raised(function: Callable[..., Any], seen: set[str]) -> set[type[KaratError]]:
    """The errors of karat that a function names, to raise them itself or by a check, or one that it calls does."""
    seen.add(function.__name__)
    names = function.__globals__
    found: set[type[KaratError]] = set()
    for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        for name in [call.func, *call.args[:1]] if isinstance(call, ast.Call) else []:
            called = names.get(name.id) if isinstance(name, ast.Name) else None
            if inspect.isclass(called) and issubclass(called, KaratError):
                found.add(called)
            elif inspect.isfunction(called) and called.__name__ not in seen and _followed(called, function):
                found |= _raised(called, seen)
    return found


@cache
def _documented_attributes(owner: object) -> dict[str, str]:
    """The strings below the attributes of a class or the constants of a module."""
    tree: Any = ast.parse(textwrap.dedent(inspect.getsource(owner)))  # type: ignore[arg-type]
    body = tree.body[0].body if inspect.isclass(owner) else tree.body
    return {
        target.id: " ".join(below.value.value.split())
        for node, below in pairwise(body)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
        for target in getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(target, ast.Name)
    }


def _example(module: ModuleType, thing: Any, example: str) -> str:
    """The example as a reader can run it: with the imports of its names, without what only its test needs."""
    found = [one for one in DocTestParser().get_examples(example) if not any(word in one.source for word in TEST_ONLY)]
    if not found:
        return ""
    imports = [f">>> {line}" for line in _imports(module, thing, "".join(one.source for one in found))]
    lines: list[str] = []
    for one in found:
        if not one.source.startswith("import "):
            lines, imports = [*lines, *imports], []
        source = re.sub(r"\s*# doctest:.*", "", one.source).rstrip("\n").split("\n")
        lines += [f"{'>>>' if number == 0 else '...'} {line}".rstrip() for number, line in enumerate(source)]
        lines += one.want.rstrip("\n").split("\n") if one.want else []
    return "\n**Examples**\n\n```pycon\n" + "\n".join(lines) + "\n```\n"


def _imports(module: ModuleType, thing: Any, source: str) -> Iterator[str]:
    """The imports of what an example takes from the file that it stands in."""
    nodes = list(ast.walk(ast.parse(source)))
    loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    made |= {alias.asname or alias.name.partition(".")[0] for node in nodes
             if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}  # fmt: skip
    public = set(public_names(module))
    homes = vars(sys.modules[thing.__module__])
    by_module: dict[str, list[str]] = {}
    for name in sorted(loaded - made - set(dir(builtins))):
        value = homes.get(name)
        home = module.__name__ if name in public else getattr(value, "__module__", None) or thing.__module__
        home = home.removesuffix("._local")  # where Python 3.13 keeps what pathlib has
        if inspect.ismodule(value):
            yield f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")
        else:
            by_module.setdefault(home, []).append(name)
    for home, names in sorted(by_module.items()):
        yield f"from {home} import {', '.join(names)}"
