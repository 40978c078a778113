/** Designed for a 360 px phone; wider screens only add margins. */
export const STYLE = `
* { box-sizing: border-box; }
body { margin: 0; background: #f4f5f7; color: #1b1f24; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 1rem; }
.banner { margin: 0; padding: .5rem 1rem; background: #5b3d00; color: #fff; text-align: center; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.125rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
section { background: #fff; border: 1px solid #d9dde3; border-radius: 8px; padding: 1rem; margin: 0 0 1rem; }
section > :last-child, form > :last-child { margin-bottom: 0; }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere; }
.amount { font-size: 1.5rem; white-space: nowrap; font-weight: 700; line-height: 1.2; }
.quiet { color: #57606a; font-size: .875rem; }
.facts { margin: 0 0 1rem; }
.facts div { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between;
  padding: .5rem 0; border-top: 1px solid #e6e9ed; }
.facts dt { color: #57606a; } .facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
section > .facts:first-child div:first-child { border-top: 0; padding-top: 0; }
.list { list-style: none; margin: 0; padding: 0; }
.list li { padding: .625rem 0; border-top: 1px solid #e6e9ed; overflow-wrap: anywhere; }
.list li:first-child { border-top: 0; padding-top: 0; } .list li:last-child { padding-bottom: 0; }
.list span { display: block; }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
label.check { font-weight: 400; display: flex; gap: .5rem; align-items: flex-start; margin: 0 0 1rem; }
label.check input { width: 1.25rem; height: 1.25rem; flex: none; margin: .125rem 0 0; }
input[type=text], select { width: 100%; min-height: 44px; padding: .5rem .75rem; margin: 0 0 1rem; font: inherit;
  color: inherit; background: #fff; border: 1px solid #7d8590; border-radius: 6px; }
button, a.button { display: block; width: 100%; min-height: 48px; padding: .6875rem 1rem; margin: 0 0 .75rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: #0b4f9e; background: #fff; border: 1px solid #0b4f9e; border-radius: 6px; }
button.main, a.main { color: #fff; background: #0b4f9e; }
button.danger { color: #a40e26; border-color: #a40e26; }
a { color: #0b4f9e; }
:focus-visible { outline: 3px solid #f0a500; outline-offset: 2px; }
fieldset { border: 0; margin: 0; padding: 0; }
.result { border-left: 6px solid #57606a; } .result.good { border-left-color: #1a7f37; }
.result.bad { border-left-color: #a40e26; }
`;
