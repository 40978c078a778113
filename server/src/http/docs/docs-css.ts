// One sheet for every documentation page, because the content security policy admits exactly one hash. Colours
// and type are those of the checkout; every pair of text and ground below has a contrast of 4.5 or more.
export const DOCS_CSS = `
:root {
  color-scheme: light dark;
  --ground: #f8fafc; --card: #ffffff; --sunk: #f1f5f9; --line: #e2e8f0; --edge: #cbd5e1;
  --ink: #0f172a; --muted: #475569; --accent: #0f766e;
  --get: #1d4ed8; --get-soft: #dbeafe; --post: #166534; --post-soft: #dcfce7;
  --change: #92400e; --change-soft: #fef3c7; --remove: #991b1b; --remove-soft: #fee2e2;
  --string: #166534; --literal: #9333ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0b1220; --card: #111a2b; --sunk: #0d1626; --line: #223049; --edge: #3b4c69;
    --ink: #e6edf6; --muted: #a5b4cb; --accent: #5eead4;
    --get: #bfdbfe; --get-soft: #1e3a6e; --post: #bbf7d0; --post-soft: #14532d;
    --change: #fde68a; --change-soft: #5c3a0c; --remove: #fecaca; --remove-soft: #6f1d1d;
    --string: #86efac; --literal: #d8b4fe;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
}
code, pre, .method { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { font-size: 0.875em; overflow-wrap: anywhere; }
p code, li code, dd code, td div code { background: var(--sunk); border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; }
a { color: var(--accent); text-underline-offset: 3px; }
a code { color: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus-visible { outline: none; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0; overflow-wrap: break-word; text-wrap: balance; }
h1 { font-size: 34px; letter-spacing: -0.02em; }
h2 { font-size: 26px; letter-spacing: -0.01em; }
h3 { font-size: 20px; }
h4 { font-size: 16px; }
p, ul, ol, dl, figure { margin: 0; }
.muted { color: var(--muted); }
.skip { position: absolute; left: 16px; top: -64px; z-index: 2; background: var(--card); padding: 12px 16px; border-radius: 10px; }
.skip:focus { top: 8px; }

.bar { background: var(--card); border-bottom: 1px solid var(--line); }
.bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: 0 20px; padding: 8px 20px; max-width: 1320px; margin: 0 auto; }
.bar a { display: inline-flex; align-items: center; min-height: 40px; color: var(--muted); text-decoration: none; font-size: 14px; }
.bar a:hover, .bar a[aria-current] { color: var(--ink); text-decoration: underline; text-decoration-thickness: 2px; text-decoration-color: var(--accent); }
.bar .brand { color: var(--ink); font-weight: 700; font-size: 16px; }
.bar nav { display: flex; flex-wrap: wrap; gap: 0 16px; }
.bar .language { margin-left: auto; }
.foot { border-top: 1px solid var(--line); padding: 24px 20px 40px; color: var(--muted); font-size: 14px; text-align: center; }

.frame { max-width: 1320px; margin: 0 auto; }
main { display: block; padding: 24px 20px 64px; min-width: 0; }
.narrow main { max-width: 760px; margin: 0 auto; }
.side { display: none; }
.toc { margin: 16px 20px 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.toc > summary { padding: 12px 16px; font-weight: 600; }
.toc nav { padding: 0 8px 12px; }
.contents p { font-size: 14px; font-weight: 600; padding: 0 8px; margin-top: 16px; }
.contents p a { color: var(--ink); text-decoration: none; }
.contents p a:hover { text-decoration: underline; }
.contents ul { list-style: none; padding: 0; }
.contents li a { display: flex; gap: 8px; align-items: flex-start; padding: 8px; border-radius: 8px; color: var(--muted); text-decoration: none; font-size: 14px; }
.contents li a:hover { background: var(--sunk); color: var(--ink); }
.contents .method { flex: none; width: 56px; text-align: center; }
summary { cursor: pointer; border-radius: 10px; }
@media (min-width: 960px) {
  .with-side { display: grid; grid-template-columns: 288px minmax(0, 1fr); }
  .with-side main { padding: 40px 40px 96px; }
  .toc { display: none; }
  .side { display: block; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 24px 12px 40px 20px; }
  .side .contents li a { padding: 4px 8px; }
}

.stack > * + * { margin-top: 16px; }
.prose { max-width: 70ch; }
.prose > * + * { margin-top: 12px; }
.prose ul { padding-left: 20px; }
.lead { font-size: 18px; color: var(--muted); }
.group > h2 + .prose { margin-top: 8px; color: var(--muted); }
.group { margin-top: 56px; padding-top: 32px; border-top: 1px solid var(--edge); }
.op { margin-top: 32px; padding: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 16px; }
.op, .group, .object { scroll-margin-top: 16px; }
.op:target, .object:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.op > * + *, .object > * + * { margin-top: 16px; }
.op h4 { margin-top: 32px; }
.op h4 + * { margin-top: 12px; }
.self { color: var(--muted); text-decoration: none; font-weight: 400; padding: 0 4px; }
.self:hover { color: var(--accent); }
.endpoint { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.endpoint code { font-size: 15px; background: none; border: 0; padding: 0; }
.method { display: inline-block; padding: 2px 6px; border-radius: 6px; font-size: 11px; line-height: 17px; font-weight: 700; letter-spacing: 0.02em; background: var(--sunk); color: var(--muted); }
.endpoint .method { font-size: 13px; padding: 4px 8px; }
.get { background: var(--get-soft); color: var(--get); }
.post { background: var(--post-soft); color: var(--post); }
.put, .patch { background: var(--change-soft); color: var(--change); }
.delete { background: var(--remove-soft); color: var(--remove); }
.chip { display: inline-block; padding: 0 8px; border-radius: 999px; font-size: 13px; line-height: 22px; font-weight: 600; background: var(--sunk); color: var(--muted); white-space: nowrap; }
.chip.success { background: var(--post-soft); color: var(--post); }
.chip.warning { background: var(--change-soft); color: var(--change); }
.chip.danger { background: var(--remove-soft); color: var(--remove); }
.facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 16px; font-size: 14px; }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; grid-column: 2; }

.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { padding: 10px 12px; text-align: left; vertical-align: top; font-weight: 400; }
tr + tr > *, tbody tr > * { border-top: 1px solid var(--line); }
thead th { color: var(--muted); font-size: 13px; font-weight: 600; background: var(--sunk); white-space: nowrap; }
.fields { min-width: 640px; }
.fields th[scope="row"], .fields td:not(:last-child) { width: 1%; white-space: nowrap; }
.fields .name { font-weight: 600; overflow-wrap: normal; }
.fields .name span { color: var(--muted); font-weight: 400; }
wbr { display: none; }
.fields .type { color: var(--muted); overflow-wrap: normal; }
.must { font-weight: 600; color: var(--change); }
.variant th { background: var(--sunk); font-weight: 600; }
.rules { list-style: none; padding: 0; color: var(--muted); }
.rules li code { color: var(--ink); }
div + .rules { margin-top: 4px; }

.code { border: 1px solid var(--line); border-radius: 10px; background: var(--sunk); overflow: hidden; }
.code figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 16px; padding: 8px 16px; border-bottom: 1px solid var(--line); font-size: 13px; font-weight: 600; color: var(--muted); }
.code figcaption span { font-weight: 400; }
.code pre { margin: 0; padding: 12px 16px; overflow-x: auto; font-size: 13px; line-height: 20px; tab-size: 2; }
.code pre:focus-visible { outline-offset: -3px; border-radius: 0 0 10px 10px; }
.code code { font-size: inherit; overflow-wrap: normal; }
.whole { display: block; width: max-content; min-width: 100%; -webkit-user-select: all; user-select: all; }
.j-str { color: var(--string); } .j-lit { color: var(--literal); }

.answer { border: 1px solid var(--line); border-radius: 10px; }
.answer + .answer { margin-top: 8px; }
.answer > summary { padding: 10px 16px; }
.answer > summary .chip { margin-right: 4px; }
.answer[open] > summary { border-bottom: 1px solid var(--line); border-radius: 10px 10px 0 0; }
.answer > div { padding: 16px; }
.codes { display: flex; flex-wrap: wrap; gap: 8px; list-style: none; padding: 0; }
.codes a { display: inline-block; padding: 4px 10px; border: 1px solid var(--edge); border-radius: 999px; text-decoration: none; }
.codes a:hover { border-color: var(--accent); text-decoration: underline; }
.codes code { background: none; border: 0; padding: 0; }
.object { margin-top: 24px; padding: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 16px; }

.crumbs { font-size: 14px; margin-bottom: 12px; }
.answers h2 { font-size: 20px; margin-top: 40px; }
.answers h2 + * { margin-top: 8px; }
.answers .facts, .answers .code { margin-top: 16px; }
.answers pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.status { margin-top: 40px; }
.status h2 { font-size: 20px; }
.catalogue { list-style: none; padding: 0; margin-top: 12px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.catalogue li { padding: 12px 16px; display: grid; gap: 2px 16px; }
.catalogue li + li { border-top: 1px solid var(--line); }
.catalogue li > * { justify-self: start; }
.catalogue code { background: none; border: 0; padding: 0; }
@media (min-width: 640px) {
  .catalogue li { grid-template-columns: minmax(0, 1fr) auto; }
  .catalogue .chip { grid-row: 1 / span 2; grid-column: 2; align-self: center; }
}
@media (max-width: 639px) {
  h1 { font-size: 28px; }
  .bar nav { order: 1; width: 100%; }
  h2 { font-size: 22px; }
  .op, .object { padding: 20px 16px; margin-left: -8px; margin-right: -8px; }
  .answer > div { padding: 8px; }
  th, td { padding: 8px 10px; }
  .fields { min-width: 560px; }
  wbr { display: inline; }
  .fields th[scope="row"] { width: 28%; white-space: normal; }
  .fields td:nth-of-type(1) { white-space: normal; }
}
`;
