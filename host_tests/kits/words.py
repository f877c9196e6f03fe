# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The words to avoid that CONTRIBUTING lists, found in what readers get: README, manual,
docstrings and help of the library and the command, messages.

    python host_tests/kits/words.py [FOLDER]       counts for each word and text, of a checkout
    python host_tests/kits/words.py -v [FOLDER]    each place too
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: the word of CONTRIBUTING's list -> its private senses; none of them is left
PRIVATE = {
    "told": r"\btold\b",
    "said": r"\bsaid\b",
    "asked": r"\basked\b",
    "made": r"\b(?:is|are|was|were|be|been|being) made\b(?! up)",
    "there": r"\b(?:is|are|was|were|be|been|not|already|still) there\b(?! (?:is|are|was))",
    "come through": r"\bc[ao]m(?:e|es|ing) through\b",
    "takes": r"\btakes? (?:no )?memory\b|\btakes? of\b|\btakes? [^.]{0,20}of the (?:\w+ )?heap\b",
    "look": r"\b(?:a|one|each|every|the|first|second) look\b",
    "stands": r"\b(?:stands|stood)\b|\bstand\b(?!-|s? alone)",
    "go": r"\b(?:let|lets|letting) (?:\w+ ){0,2}go\b|\b(?:has|have|had) to go\b|\bmay go\b",
}
_CODE = re.compile(r"```.*?```|`[^`\n]*`|^ {4}[^\n]*$", re.DOTALL | re.MULTILINE)


class Place(NamedTuple):
    """A private word in a text."""

    kind: str
    word: str
    where: str
    text: str


def _pages(root: Path) -> Iterator[tuple[str, str, int, str]]:
    """(kind, file, line, text) of every line of prose."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        prose = _CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        kind = "README" if page.name == "README.md" else "manual"
        for number, line in enumerate(prose.splitlines(), 1):
            yield kind, page.name, number, line


def _sources(root: Path) -> Iterator[tuple[str, str, int, str]]:
    """(kind, file, line, text) of docstrings, help texts and messages."""
    for folder in ("lib", "tools"):
        for path in sorted((root / folder).rglob("*.py")):
            name = str(path.relative_to(root))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for kind, text in _texts(node):
                    for more, line in enumerate(text.value.splitlines()):
                        yield kind, name, text.lineno + more, re.sub(r"`[^`]*`", "``", line)
    tree = ast.parse((root / "lib" / "maixmem_text.py").read_text(encoding="utf-8"))
    for table in (n.value for n in tree.body if isinstance(n, ast.Assign)):
        for message in table.values if isinstance(table, ast.Dict) else ():
            yield "messages", "lib/maixmem_text.py", message.lineno, ast.unparse(message)
    for path in sorted((root / "tools" / "maixmem_cli" / "errors" / "rows").glob("*.toml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith(("means", "says", "text", "find_out", "steps")):
                yield "messages", path.name, number, line


def _texts(node: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
        first = node.body[0]
        assert isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        yield "docstrings", first.value
    if isinstance(node, ast.keyword) and node.arg in ("help", "epilog", "short_help"):
        if isinstance(node.value, ast.Constant):
            yield "help", node.value


def places(root: Path = ROOT) -> list[Place]:
    """Every private word."""
    found = []
    for kind, file, number, line in [*_pages(root), *_sources(root)]:
        for word, pattern in PRIVATE.items():
            for _ in re.finditer(pattern, line, re.IGNORECASE):
                found.append(Place(kind, word, f"{file}:{number}", line.strip()))
    return found


def main(arguments: list[str]) -> None:
    folders = [a for a in arguments if a != "-v"]
    found = places(Path(folders[0]).resolve() if folders else ROOT)
    kinds = sorted({p.kind for p in found})
    count = Counter((p.word, p.kind) for p in found)
    print(f"{'':14}" + "".join(f"{kind:>12}" for kind in kinds))
    for word in PRIVATE:
        print(f"{word:14}" + "".join(f"{count[word, kind]:12}" for kind in kinds))
    print(f"{'all':14}" + "".join(f"{sum(p.kind == k for p in found):12}" for k in kinds))
    if "-v" in arguments:
        for place in found:
            print(f"{place.where}: {place.word}: {place.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
