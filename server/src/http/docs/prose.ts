import { type HtmlValue, html, type SafeHtml } from '../html.ts';

// The little of Markdown that our descriptions use: paragraphs, "- " lists, `code`, **strong** and links.
// Anything else stays as the plain text it is.

// A link leads to this site or to an https address; `javascript:` and `//host` do not match and stay text.
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:\/(?!\/)|#|https:\/\/)[^\s)]*)\)/g;

export function inlineProse(text: string): SafeHtml {
  const parts: HtmlValue[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, label, address] = match;
    parts.push(text.slice(from, match.index));
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`);
    else parts.push(html`<a href="${address}">${label}</a>`);
    from = match.index + whole.length;
  }
  return html`${parts}${text.slice(from)}`;
}

export function prose(text: string | undefined): SafeHtml {
  const blocks = (text ?? '').split(/\n\s*\n/).map((block) => block.trim());
  return html`${blocks.filter((block) => block !== '').map(blockMarkup)}`;
}

function blockMarkup(block: string): SafeHtml {
  const lines = block.split('\n').map((line) => line.trim());
  if (!lines.every((line) => line.startsWith('- '))) return html`<p>${inlineProse(lines.join(' '))}</p>`;
  return html`<ul>${lines.map((line) => html`<li>${inlineProse(line.slice(2))}</li>`)}</ul>`;
}
