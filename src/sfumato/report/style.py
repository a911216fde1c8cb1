"""The report's style sheet: no network, readable on paper, contrast 4.5:1 or more."""

STYLE = """
:root { color-scheme: light; --ink: #1d2433; --soft: #51596b; --line: #d8dce5;
  --paper: #ffffff; --wash: #f5f6fa; --accent: #3d5a98;
  --good: #17693a; --bad: #a1232b; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--wash); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
header p { color: var(--soft); margin: .25rem 0 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 0 0 .75rem; }
h3 { font-size: 1.05rem; margin: 0; }
p { margin: .5rem 0; max-width: 44rem; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.5rem; margin-top: 1.25rem; }
.banner { border-left: 6px solid var(--good); }
.banner.bad { border-left-color: var(--bad); }
.banner strong { font-size: 1.15rem; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr));
  gap: 1rem; margin: 1.25rem 0 0; }
.numbers div { display: flex; flex-direction: column-reverse;
  justify-content: flex-end; }
.numbers dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2;
  font-variant-numeric: tabular-nums; }
.numbers dt { color: var(--soft); font-size: .875rem; }
.promise { border-top: 1px solid var(--line); padding: 1rem 0; }
.promise:last-child { padding-bottom: 0; }
.promise header { display: flex; gap: .75rem; align-items: baseline; flex-wrap: wrap; }
.verdict { font-weight: 600; color: var(--good); white-space: nowrap; }
.verdict.bad { color: var(--bad); }
.pair { display: flex; gap: 2rem; flex-wrap: wrap; margin: .5rem 0; }
.pair dt { color: var(--soft); font-size: .875rem; }
.pair dd { margin: 0; font-weight: 600; }
.quiet { color: var(--soft); }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-size: .875rem; font-weight: 600; }
tbody th { font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.number + td:not(.number), th.number + th:not(.number) { padding-left: 1rem; }
tbody tr:last-child > * { border-bottom: 0; }
svg { display: block; width: 100%; height: auto; margin: .75rem 0; }
svg text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  fill: var(--soft); }
svg text.value { fill: var(--ink); font-weight: 600; }
svg .bar { fill: var(--accent); }
svg .grid { stroke: var(--line); stroke-width: 1; }
details { margin-top: .75rem; }
summary { cursor: pointer; color: var(--accent); font-weight: 600; }
summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
details > :not(summary) { margin-top: .75rem; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: 6px;
  padding: 1rem; overflow-x: auto; font-size: .875rem; line-height: 1.5; }
code, .hash { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  font-size: .875rem; overflow-wrap: anywhere; }
li { margin: .4rem 0; max-width: 44rem; }
@media (max-width: 40rem) { main { padding: 1.25rem .75rem; }
  section { padding: 1rem; } }
@media print { body { background: none; } section { break-inside: avoid; }
  main { padding: 0; max-width: none; } }
"""
