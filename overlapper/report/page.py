"""A report as one page of HTML: sections of figures, tables and remarks, nothing loaded from elsewhere.

Every figure has a caption that says what it shows, and the numbers behind it in a table that opens. The page
works without scripts, with the keyboard, with a screen reader, and down to the width of a phone.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from html import escape

from overlapper.drawing import THEME
from overlapper.runtime.messages import counted

Cell = str | int | float


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows under a head."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    """List of sequences; numbers stand to the right."""
    bars: bool = False
    """Draw the numbers of the last column as bars beside them."""
    wide: bool = False
    """Too many columns for a part of the usual width; on narrow screens a row is a block of lines."""
    folded: bool = False
    """Show it only when it is opened."""
    zeros_folded: bool = False
    """The same of rows whose last number is 0."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture, a caption that says what it shows, and the numbers behind it."""

    title: str
    caption: str
    svg: str
    """An element ``svg``."""
    table: Table | None = None
    """The numbers, in a part of the page that opens."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """A sentence between figures, such as which part is left out and which file would show it."""

    text: str


Part = Table | Figure | Remark


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    parts: Sequence[Part]


class Level(enum.Enum):
    """How serious a finding is: fine, to be looked at, or wrong."""

    OK = "OK"
    LOOK = "look"
    WRONG = "wrong"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the verdict."""

    level: Level
    what: str
    """What was looked at."""
    text: str
    """What was found, and what it may come from."""


_STYLE = """
:root{color-scheme:light dark;--ground:#fff;--raised:#f5f7f9;--ink:#1b1f24;--soft:#49525c;--rule:#d5dae0;
--link:#0b57a4}
@media(prefers-color-scheme:dark){:root{--ground:#14181d;--raised:#1c2229;--ink:#eef1f4;--soft:#b6c0ca;--rule:#353c45;
--link:#8cc0f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,'Segoe UI',Roboto,
'DejaVu Sans',sans-serif}
header,main,nav{max-width:76rem;margin:0 auto;padding:0 1rem}
header p,nav{color:var(--soft)}header p{margin:.5rem 0;overflow-wrap:anywhere}
h1{margin:1.5rem 0 0;font-size:1.7rem;line-height:1.2}
h2{margin:2.5rem 0 1rem;padding-top:.5rem;border-top:1px solid var(--rule);font-size:1.35rem}
h3{margin:0 0 .25rem;font-size:1.05rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0;padding:0;list-style:none}
nav a{display:inline-block;padding:.35rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0}
dl div{padding:.6rem .8rem;background:var(--raised);border-radius:.4rem}
dt{color:var(--soft);font-size:.9rem}dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}
.parts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));
gap:2rem 1.5rem;align-items:start}
figure,.block{margin:0;min-width:0}.wide{grid-column:1/-1}figcaption p{margin:0 0 .5rem;color:var(--soft)}
.picture{display:block;width:100%;max-width:30rem;height:auto}
details{margin-top:.5rem}summary{cursor:pointer;padding:.3rem 0;color:var(--link)}
.scroll{overflow:auto}details .scroll{max-height:26rem}
table{border-collapse:collapse;width:100%;font-size:.93rem}
caption{text-align:left}
th,td{padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top;
overflow-wrap:break-word}
thead th{color:var(--soft);font-weight:600}
tbody th{font-weight:400}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bar{width:25%;min-width:3rem;padding-right:0}.bar svg{display:block;width:100%;height:1.1rem}
.verdict{margin:1rem 0;padding:0;list-style:none;display:grid;gap:.4rem}
.verdict li{display:flex;gap:.75rem;align-items:baseline;padding:.4rem .8rem;background:var(--raised);
border-left:.35rem solid var(--rule);border-radius:.2rem}
.verdict b{flex:0 0 3.2rem}.verdict span{min-width:0}
.verdict .ok{border-color:#2e8b57}.verdict .look{border-color:#d08700}.verdict .wrong{border-color:#c62828}
.remark{margin:0;padding:.6rem .8rem;background:var(--raised);border-radius:.4rem;align-self:start}
@media(max-width:40rem){.wide thead{display:none}.wide tr{display:block;padding:.4rem 0;
border-bottom:1px solid var(--rule)}.wide tbody th,.wide tbody td{display:flex;justify-content:space-between;
gap:1rem;padding:0;border:0;overflow-wrap:anywhere}.wide [data-of]::before{content:attr(data-of);
color:var(--soft);white-space:nowrap}}
@media print{details>*{display:block}.scroll{max-height:none}nav{display:none}}
"""


def page(
    title: str,
    lead: Sequence[str],
    facts: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    findings: Sequence[Finding] = (),
) -> str:
    """Return the page.

    Parameters
    ----------
    title : str
    lead : sequence of str
        What the page reports on, in lines.
    facts : list of (str, str)
        The numbers that matter most: name and value.
    sections : list of Section
    findings : sequence of Finding
        What to say first.
    """
    anchors = [f"s{number}" for number in range(1, len(sections) + 1)]
    links = "".join(
        f'<li><a href="#{anchor}">{escape(section.title)}</a></li>'
        for anchor, section in zip(anchors, sections, strict=True)
    )
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    lines = "".join(f"<p>{escape(line)}</p>" for line in lead)
    body = "\n".join(_section(*both) for both in zip(anchors, sections, strict=True))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{_STYLE}{THEME}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><h1>{escape(title)}</h1>{lines}</header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="content">
{_verdict(findings)}<dl>{cells}</dl>
{body}
</main>
</body>
</html>
"""


def _verdict(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    lines = "".join(
        f'<li class="{finding.level.name.lower()}"><b>{finding.level.value}</b> '
        f"<span>{escape(finding.what)}: {escape(finding.text)}</span></li>"
        for finding in findings
    )
    return f'<ul class="verdict" aria-label="Verdict">{lines}</ul>\n'


def _section(anchor: str, section: Section) -> str:
    parts = "\n".join(_part(part) for part in section.parts)
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(section.title)}</h2>\n'
        f'<div class="parts">\n{parts}\n</div>\n</section>'
    )


def _part(part: Part) -> str:
    if isinstance(part, Remark):
        return f'<p class="remark">{escape(part.text)}</p>'
    if isinstance(part, Table):
        kind = "block wide" if part.wide else "block"
        if part.folded:
            opened = f"<details><summary>{escape(part.title)}</summary>{_table(part)}</details>"
            return f'<div class="{kind}">{opened}</div>'
        zeros = [row for row in part.rows if part.zeros_folded and row[-1] == 0]
        shown = dataclasses.replace(part, rows=[row for row in part.rows if row not in zeros])
        behind = ""
        if zeros:
            others = dataclasses.replace(part, title=f"{part.title}: counts of 0", rows=zeros, bars=False)
            behind = (
                f"<details><summary>{counted(len(zeros), 'count')} of 0</summary>{_table(others)}</details>"
            )
        table = _table(shown) if shown.rows or not zeros else ""
        return f'<div class="{kind}"><h3>{escape(part.title)}</h3>{table}{behind}</div>'
    behind = ""
    if part.table:
        behind = (
            f"<details><summary>Table: {escape(part.table.title)}</summary>{_table(part.table)}</details>"
        )
    return (
        f"<figure><figcaption><h3>{escape(part.title)}</h3><p>{escape(part.caption)}</p></figcaption>"
        f"{part.svg}{behind}</figure>"
    )


def _table(table: Table) -> str:
    longest = max((row[-1] for row in table.rows if not isinstance(row[-1], str)), default=0) or 1
    head = "".join(
        f'<th scope="col"{_kind(values)}>{escape(name)}</th>'
        for name, *values in zip(table.head, *table.rows, strict=True)
    )
    if table.bars:
        head += '<td class="bar" aria-hidden="true"></td>'
    lines = []
    for name, *cells in table.rows:
        of = [f' data-of="{escape(column)}"' if table.wide else "" for column in table.head]
        line = f'<th scope="row"{_kind([name])}{of[0]}>{escape(_shown(name))}</th>'
        line += "".join(
            f"<td{_kind([cell])}{column}>{escape(_shown(cell))}</td>"
            for cell, column in zip(cells, of[1:], strict=True)
        )
        if table.bars:
            line += _bar(100 * float(cells[-1]) / longest)
        lines.append(f"<tr>{line}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _bar(percent: float) -> str:
    return (
        '<td class="bar" aria-hidden="true">'
        '<svg class="picture" viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'<rect y="1" width="{percent:.2f}" height="8" class="fill-a"/></svg></td>'
    )


def _kind(values: Sequence[Cell]) -> str:
    return "" if any(isinstance(value, str) for value in values) else ' class="number"'


def _shown(value: Cell) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
