"""Pages from templates. Everything that is put into a page is escaped, unless it was made as markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

WEB = Path(__file__).parent.parent / "web"


@cache
def environment() -> Environment:
    """The templates of participants and researchers; a name that a page does not get is an error, not a gap.

    >>> environment().from_string("<p>{{ answer }}</p>").render(answer="<script>")
    '<p>&lt;script&gt;</p>'
    """
    return Environment(
        loader=FileSystemLoader(WEB / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
