/** Designed for a 360 px phone; wider screens only add margins. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f4f5f7; --card: #fff; --ink: #1b1f24; --quiet: #57606a; --line: #d9dde3;
  --field: #7d8590; --accent: #0b4f9e; --on-accent: #fff; --bad: #a40e26; --good: #1a7f37; --focus: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --card: #161b22; --ink: #e6edf3; --quiet: #9da7b3;
  --line: #30363d; --field: #7d8590; --accent: #79b8ff; --on-accent: #0d1117; --bad: #ff8a80; --good: #56d364;
  --focus: #f0a500; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: break-word; }
main, footer { max-width: 40rem; margin: 0 auto; padding: 1rem; }
footer { padding-top: 0; }
.banner { padding: .5rem 1rem; background: #5b3d00; color: #fff; text-align: center; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.125rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 0 0 1rem; }
section > :last-child, section > form > :last-child { margin-bottom: 0; }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere; }
.amount { font-size: 1.5rem; white-space: nowrap; font-weight: 700; line-height: 1.2; }
.quiet { color: var(--quiet); font-size: .875rem; }
.facts { margin: 0 0 1rem; }
.facts div { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between;
  padding: .5rem 0; border-top: 1px solid var(--line); }
.facts dt { color: var(--quiet); } .facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
section > .facts:first-child div:first-child { border-top: 0; padding-top: 0; }
.list { list-style: none; margin: 0; padding: 0; }
.list li { padding: .625rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.list li:first-child { border-top: 0; padding-top: 0; } .list li:last-child { padding-bottom: 0; }
.list span { display: block; }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
input[type=text], select { width: 100%; min-height: 44px; padding: .5rem .75rem; margin: 0 0 1rem; font: inherit;
  color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: 6px; }
button, a.button { display: block; width: 100%; min-height: 48px; padding: .6875rem 1rem; margin: 0 0 .75rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--accent); background: var(--card); border: 1px solid var(--accent); border-radius: 6px; }
button.main, a.main { color: var(--on-accent); background: var(--accent); }
button.danger { color: var(--bad); border-color: var(--bad); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.result { border-left: 6px solid var(--quiet); } .result.good { border-left-color: var(--good); }
.result.bad { border-left-color: var(--bad); }
`;
