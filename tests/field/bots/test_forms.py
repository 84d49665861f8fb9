"""Forms as they are read from pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat.field.bots.walk import forms

PAGE = """
<form action="/other"><button>Leave</button></form>
<form method="POST" action="/s/x/step/background">
  <input type="hidden" name="csrf" value="a&amp;b">
  <fieldset><legend>Which   language?</legend><p class="hint">The first one</p>
    <label><input type="radio" name="language" value="1"> <span>Deutsch &amp; mehr</span></label>
    <input type="radio" name="language" value="2" id="two"><label for="two">English</label>
  </fieldset>
  <label for="age">Your age</label><input id="age" name="age">
  <label><input type="checkbox" name="agree"> I <em>agree</em></label>
  <label for="more">Anything else?</label><textarea id="more" name="comment"></textarea>
  <select name="country"><option value="">choose</option><option value="at">Austria</option></select>
  <button name="go" value="on">Go on</button> <button name="go" value="off">Stop</button>
  <button type="button">Help</button>
</form>"""


def test_every_field_is_found_with_its_words() -> None:
    other, form = forms(PAGE)
    assert (other.action, other.method) == ("/other", "get")
    assert (form.action, form.method, form.hidden) == ("/s/x/step/background", "post", {"csrf": "a&b"})
    language = form.choices["language"]
    assert (language.question, language.options) == ("Which language?", {"1": "Deutsch & mehr", "2": "English"})
    assert form.choices["agree"].options == {"on": "I agree"}
    assert form.choices["country"].options == {"at": "Austria"}
    assert form.texts == {"age": "Your age", "comment": "Anything else?"}
    assert form.buttons == [("go", "on", "Go on"), ("go", "off", "Stop")]


def test_the_pressed_button_is_sent_along() -> None:
    form = forms(PAGE)[1]
    assert form.filled({"language": "2"}) == {"csrf": "a&b", "language": "2", "go": "on"}
    assert form.filled({}, button=1)["go"] == "off"


@given(st.text(alphabet="<>abc/=\"' formlgendiput", max_size=200))
def test_a_page_that_is_none_has_no_forms_and_does_no_harm(text: str) -> None:
    assert all(form.action is not None for form in forms(text))
