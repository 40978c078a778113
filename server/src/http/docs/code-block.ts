import { type HtmlValue, html, type SafeHtml } from '../html.ts';

interface CodeBlock {
  readonly label: string;
  readonly code: HtmlValue;
  /** One click then selects the whole text: the nearest thing to a copy button that needs no script. */
  readonly selectsWhole?: boolean;
}

// tabindex lets a keyboard scroll a long line; a focusable box needs a role and a name.
export function codeBlock({ label, code, selectsWhole = false }: CodeBlock): SafeHtml {
  return html`<figure class="code"><figcaption>${label}${selectsWhole && html`<span>one click selects it all</span>`}</figcaption>
<pre tabindex="0" role="region" aria-label="${label}"><code${selectsWhole && html` class="whole"`}>${code}</code></pre></figure>`;
}

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Pretty-printed JSON with its values marked for colour. */
export function jsonMarkup(value: unknown): SafeHtml {
  const text = JSON.stringify(value, null, 2);
  const parts: HtmlValue[] = [];
  let from = 0;
  for (const match of text.matchAll(JSON_TOKEN)) {
    const [whole, quoted, colon] = match;
    parts.push(text.slice(from, match.index));
    if (quoted === undefined) parts.push(html`<span class="j-lit">${whole}</span>`);
    else if (colon === undefined) parts.push(html`<span class="j-str">${quoted}</span>`);
    else parts.push(whole);
    from = match.index + whole.length;
  }
  return html`${parts}${text.slice(from)}`;
}
