// The only way to make markup on our pages. A value put into html`…` is escaped unless it was
// itself made by html`…` or trustedMarkup(), so forgetting to escape is not possible. Escaping covers text and
// quoted attributes; an attribute must therefore always stand in double quotes.

class SafeMarkup {
  // Private on purpose: TypeScript then compares this class by name, and no parsed JSON can pretend to be one.
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type SafeHtml = SafeMarkup;

export type HtmlValue = SafeHtml | string | number | bigint | false | null | undefined | readonly HtmlValue[];

const REPLACEMENTS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => REPLACEMENTS[character] ?? character);
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof SafeMarkup) return value.toString();
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}

export function html(chunks: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  let markup = chunks[0] ?? '';
  for (const [index, value] of values.entries()) {
    markup += render(value) + (chunks[index + 1] ?? '');
  }
  return new SafeMarkup(markup);
}

/** For text written in this repository that escaping would spoil, such as the style sheet. Never for data. */
export function trustedMarkup(markup: string): SafeHtml {
  return new SafeMarkup(markup);
}
