"""How the report looks, in light and in dark."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--paper:#faf5ee;--ink:#2e2422;--soft:#685450;--line:#d9ccbf;--card:#fff;--mark:#1f7a6f;
--bar:#8fb8b0;--c0:#1f7a6f;--c1:#b5541c;--c2:#5b4bb3;--c3:#a3247a;--c4:#3d6b1e;--c5:#87610b;--c6:#1c66a8;--c7:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e3e6ea;--soft:#a3a9b3;--line:#343a44;--card:#1e2228;
--mark:#6fd0c1;--bar:#3f6f67;--c0:#6fd0c1;--c1:#f0a36b;--c2:#b3a6ff;--c3:#f08cc8;--c4:#a5d67c;--c5:#e6c35c;--c6:#86bdf2;
--c7:#ff9a91}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1180px;margin:0 auto;padding:24px 20px 64px}h1{font-size:1.7rem;margin:.2em 0}
h2{font-size:1.2rem;margin:2em 0 .5em}p,li{color:var(--soft);max-width:75ch}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--card)}
.wide:focus-visible{outline:3px solid var(--mark)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.87rem}
th,td{padding:7px 8px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600}thead th{white-space:normal;vertical-align:bottom}
tbody th,thead th:first-child{text-align:left;position:sticky;left:0;background:var(--card)}
tbody tr:last-child>*{border-bottom:0}td.best{color:var(--mark);font-weight:700}
td.problem{text-align:left;color:var(--soft);white-space:normal}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:14px}
figure{margin:0;border:1px solid var(--line);border-radius:8px;overflow:hidden;background:var(--card)}
figure img{display:block;width:100%;height:auto}figcaption{padding:8px 10px;font-size:.85rem;color:var(--soft)}
svg{display:block;width:100%;max-width:900px;height:auto;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:8px}svg text{fill:var(--ink)}.bar{fill:var(--bar)}.bar.best{fill:var(--mark)}
.grid{stroke:var(--line);fill:none}.dot{fill:var(--mark)}.line{fill:none;stroke-width:2}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}.d1{stroke-dasharray:6 3}.d2{stroke-dasharray:2 3}
@media print{body{background:#fff}}
"""
