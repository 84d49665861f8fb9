"""The forms of a page, as somebody sees them who fills them in: what can be chosen, under which words.

Hidden fields are sent back as they are. The first button of a form is the one that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

SPOKEN = ("legend", "label", "button")
"""Elements whose words say what a field is about."""
NOT_FILLED_IN = ("submit", "button", "reset", "image")


@dataclass
class FormChoice:
    """A field with answers to choose from: radio buttons, checkboxes or a drop-down list."""

    name: str
    kind: str
    question: str = ""
    options: dict[str, str] = field(default_factory=dict)
    """The value of each answer and the words beside it."""


@dataclass
class PageForm:
    """A form: where it goes, what it sends of itself, and what is to be filled in."""

    action: str
    method: str
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, FormChoice] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Lines to write in, by name, with their labels."""
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, value and words of each button."""

    def filled(self, answers: Mapping[str, str], button: int = 0) -> dict[str, str]:
        """What the browser sends when a button is pressed.

        >>> forms('<form action="/a"><input type=hidden name=k value=1><button>Go</button></form>')[0].filled({})
        {'k': '1'}
        """
        sent = self.hidden | dict(answers)
        if self.buttons and self.buttons[button][0]:
            sent[self.buttons[button][0]] = self.buttons[button][1]
        return sent


def forms(html: str) -> list[PageForm]:
    """All forms of a page.

    >>> page = '<form action="/a"><label><input type=radio name=x value=1> Yes</label><button>Go</button></form>'
    >>> forms(page)[0].choices["x"].options
    {'1': 'Yes'}
    """
    reader = _FormParser()
    reader.feed(html)
    reader.close()
    return reader.found


class _FormParser(HTMLParser):
    """Collects forms; words belong to the label that encloses a field or names its id."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[PageForm] = []
        self._form: PageForm | None = None
        self._owners: dict[str, tuple[str, str]] = {}
        self._last: tuple[str, str] | None = None
        self._labels: dict[str, str] = {}
        self._label_for = ""
        self._legend = ""
        self._words: list[str] = []
        self._select: FormChoice | None = None
        self._option: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._form = PageForm(given.get("action", ""), given.get("method", "get").lower())
            self.found.append(self._form)
        if self._form is None:
            return
        if tag in SPOKEN:
            self._words = []
            self._label_for = given.get("for", "")
            self._last = None
        if tag == "button" and given.get("type", "submit") == "submit":
            self._form.buttons.append((given.get("name", ""), given.get("value", ""), ""))
        if tag == "input":
            self._input(self._form, given)
        elif tag == "textarea" and given.get("name"):
            self._form.texts[given["name"]] = ""
            self._owners[given.get("id", "")] = self._last = (given["name"], "")
        elif tag == "select" and given.get("name"):
            self._select = self._form.choices.setdefault(
                given["name"], FormChoice(given["name"], "select", self._legend)
            )
        elif tag == "option" and self._select is not None:
            self._option, self._words = given.get("value", ""), []

    def _input(self, form: PageForm, given: dict[str, str]) -> None:
        kind, name, value = given.get("type", "text").lower(), given.get("name", ""), given.get("value", "")
        if kind == "submit":
            form.buttons.append((name, value, value))
        elif kind == "hidden" and name:
            form.hidden[name] = value
        elif kind in ("radio", "checkbox") and name:
            choice = form.choices.setdefault(name, FormChoice(name, kind, self._legend))
            choice.options[value or "on"] = ""
            self._owners[given.get("id", "")] = self._last = (name, value or "on")
        elif kind not in NOT_FILLED_IN and name:
            form.texts[name] = ""
            self._owners[given.get("id", "")] = self._last = (name, "")

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._form is None:
            return
        words = " ".join("".join(self._words).split())
        if tag == "form":
            # A label that names an id may stand before its field, so it is told last.
            for place, told in self._labels.items():
                self._name(self._form, self._owners.get(place), told)
            self._form = None
        elif tag == "legend":
            self._legend = words
        elif tag == "fieldset":
            self._legend = ""
        elif tag == "button" and self._form.buttons and not self._form.buttons[-1][2]:
            name, value, _ = self._form.buttons[-1]
            self._form.buttons[-1] = (name, value, words)
        elif tag == "option" and self._select is not None and self._option:
            self._select.options[self._option] = words
        elif tag == "select":
            self._select = None
        elif tag == "label" and self._label_for:
            self._labels[self._label_for] = words
        elif tag == "label":
            self._name(self._form, self._last, words)

    def _name(self, form: PageForm, owner: tuple[str, str] | None, words: str) -> None:
        """The words of a label, given to its field."""
        if owner is None:
            return
        name, value = owner
        if name in form.choices and value in form.choices[name].options:
            form.choices[name].options[value] = words
        elif name in form.texts:
            form.texts[name] = words
