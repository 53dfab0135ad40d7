# SPDX-License-Identifier: MIT
"""One self-contained HTML page: style, tables, figures, cards. Nothing is fetched from anywhere."""

import html

CSS = """
:root { --ink:#1d2733; --soft:#5c6975; --line:#e3e7eb; --accent:#0b6e7f; --warm:#c4622d; --tint:#f4f8f9; }
* { box-sizing:border-box; }
body { margin:0; color:var(--ink); background:#fff;
  font:16px/1.55 'Inter','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif; }
main { max-width:1060px; margin:0 auto; padding:52px 28px 80px; }
h1 { font-size:34px; line-height:1.15; letter-spacing:-.02em; margin:0 0 10px; }
h2 { font-size:22px; letter-spacing:-.01em; margin:58px 0 10px; padding-top:16px; border-top:2px solid var(--ink); }
h3 { font-size:16px; margin:28px 0 6px; }
p, ul { max-width:740px; margin:10px 0; } li { margin:5px 0; }
.lead { font-size:18px; color:var(--soft); max-width:780px; }
code { font:13px/1.4 'JetBrains Mono','SFMono-Regular',Menlo,Consolas,'DejaVu Sans Mono',monospace;
  background:var(--tint); padding:1px 5px; border-radius:4px; }
nav { margin:22px 0 0; font-size:14px; } nav a { color:var(--accent); text-decoration:none;
  margin-right:16px; white-space:nowrap; }
.cards { display:grid; grid-template-columns:repeat(auto-fit,minmax(180px,1fr)); gap:14px; margin:30px 0 6px; }
.card { border:1px solid var(--line); border-top:3px solid var(--accent); border-radius:4px; padding:13px 16px 12px; }
.card b { display:block; font-size:27px; line-height:1.2; letter-spacing:-.02em; font-weight:650; }
.card span { color:var(--soft); font-size:13.5px; line-height:1.4; display:block; }
.card.open { border-top-color:#c9ced4; } .card.open b { color:var(--soft); font-size:20px; line-height:32px; }
table { border-collapse:collapse; font-size:14px; margin:16px 0 4px; font-variant-numeric:tabular-nums; }
th { font-weight:600; color:var(--soft); text-align:right; padding:5px 11px;
  border-bottom:1px solid var(--ink); vertical-align:bottom; white-space:nowrap; }
th.group { text-align:center; border-bottom:1px solid var(--line); color:var(--ink); }
td { text-align:right; padding:4.5px 11px; border-bottom:1px solid var(--line); white-space:nowrap; }
th:first-child, td:first-child { text-align:left; padding-left:0; }
thead tr:not(:last-child) th:not(.group) { border-bottom:none; } td.text, th.text { text-align:left;
  white-space:normal; }
tr.strong td { font-weight:650; } td.same { color:var(--accent); font-weight:650; }
td.off { color:var(--warm); } td.faint { color:var(--soft); }
tr.strong td.faint { font-weight:400; }
figure { margin:22px 0 6px; } figure svg { max-width:100%; height:auto; display:block; }
figcaption, .caption { color:var(--soft); font-size:13.5px; line-height:1.45; max-width:740px; margin:6px 0 18px; }
.pair { display:grid; grid-template-columns:1fr 1fr; gap:24px; align-items:start; } .wide { overflow-x:auto; }
.open-note { background:var(--tint); border-left:3px solid #c9ced4; padding:10px 16px; max-width:740px; margin:16px 0; }
.chip { display:inline-block; padding:1px 9px; border:1px solid var(--line); border-radius:11px;
  margin:2px 5px 2px 0; font-size:13.5px; }
.chip.k { border-color:var(--accent); background:#e6f2f4; } .chip.u { border-color:var(--warm);
  background:#fbeee7; } .chip.ku { border-color:var(--ink); background:#f0f1f3; }
footer { margin-top:60px; padding-top:14px; border-top:1px solid var(--line); color:var(--soft); font-size:13px; }
@media (max-width:820px) { .pair { grid-template-columns:1fr; } }
@media print { main { padding:0; } h2 { break-after:avoid; } figure, table { break-inside:avoid; } }
"""


def esc(text):
    """Text for HTML."""
    return html.escape(str(text), quote=False)


class Cell:
    """A table cell with a class."""

    def __init__(self, text, kind="", span=1):
        self.text, self.kind, self.span = text, kind, span


def _cell(tag, c):
    c = c if isinstance(c, Cell) else Cell(c)
    extra = (f' class="{c.kind}"' if c.kind else "") + (f' colspan="{c.span}"' if c.span > 1 else "")
    return f"<{tag}{extra}>{esc(c.text)}</{tag}>"


def table(heads, rows, caption="", strong=()):
    """A table: `heads` one or several lines of heads; `strong` the indices of rows in bold."""
    lines = heads if heads and isinstance(heads[0], (list, tuple)) else [heads]
    out = ['<div class="wide"><table><thead>']
    out += ["<tr>" + "".join(_cell("th", c) for c in line) + "</tr>" for line in lines]
    out.append("</thead><tbody>")
    for i, row in enumerate(rows):
        out.append(f"<tr{' class=strong' if i in strong else ''}>" + "".join(_cell("td", c) for c in row) + "</tr>")
    out.append("</tbody></table></div>")
    if caption:
        out.append(f'<p class="caption">{caption}</p>')
    return "\n".join(out)


def figure(svg, caption):
    """A picture with what it shows."""
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def card(value, words, is_open=False):
    """A key figure; an open one was not measured yet."""
    return f'<div class="card{" open" if is_open else ""}"><b>{esc(value)}</b><span>{words}</span></div>'


def note(text):
    """What is not there yet."""
    return f'<div class="open-note">{text}</div>'


def bullets(items):
    """A list; items are HTML."""
    return "<ul>" + "".join(f"<li>{i}</li>" for i in items) + "</ul>"


def signed(value, digits=0):
    """With its sign, a true minus and thin spaces between thousands."""
    value = round(value, digits)
    text = f"{abs(value):,.{digits}f}".replace(",", "\u202f")
    return ("+" if value > 0 else "\u2212" if value < 0 else "\u00b1") + text


def number(value, digits=0):
    """With thin spaces between thousands."""
    return f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "\u2212")


def page(title, body):
    """The whole document."""
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width, initial-scale=1">\n'
            f"<title>{esc(title)}</title><style>{CSS}</style></head>\n<body><main>\n{body}\n</main></body></html>\n")
