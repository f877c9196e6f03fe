# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An answer as a fragment of HTML, for reports and for the page."""

from __future__ import annotations

from html import escape

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer


def fragment(of: Answer) -> str:
    """<section class="answer">: the step large, the rest below it, the other steps folded."""
    language = of.language
    rows = [f'<p class="cause">{escape(of.cause)}</p>']
    if of.step:
        do = as_text.label("Do this", language)
        rows.append(f'<p class="step"><b>{escape(do)}</b>{escape(of.step.text)}</p>')
        if of.step.diff:
            rows.append(f'<pre class="diff">{escape(of.step.diff)}</pre>')
    for name, text in (
        ("Where", of.at),
        ("Numbers", "; ".join(of.numbers)),
        ("Proof", of.proof),
    ):
        if text:
            rows.append(
                f'<p class="{name.lower()}">{escape(as_text.label(name, language))}'
                f"{escape(text)}</p>"
            )
    if of.others:
        steps = "".join(f"<li>{escape(step.text)}</li>" for step in of.others)
        title = escape(as_text.label("Or", language))
        rows.append(f"<details><summary>{title}</summary><ul>{steps}</ul></details>")
    return f'<section class="answer" lang="{language}">{"".join(rows)}</section>'
