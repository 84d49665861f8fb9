"""Write the pages that replicate published studies: make replication

They need the reference data in ../shared/reference. A test fails where a page is not what this script would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.replication.acceptability.page import page as acceptability
from tools.replication.crowd.page import page as crowd
from tools.replication.measures.page import page as measures

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "replication"
REFERENCE = ROOT.parent / "shared" / "reference"


def pages(reference: Path) -> dict[str, str]:
    """The pages and their figures, by their paths in docs/replication."""
    return acceptability(reference) | crowd(reference) | measures(reference)


def main() -> int:
    """Write all of them."""
    if not REFERENCE.is_dir():
        print("The reference data are not there: they belong in ../shared/reference, beside the checkout.")
        return 1
    for name, text in pages(REFERENCE).items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)}  {len(text.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
