// The only way to produce markup. html`…` escapes every interpolated value unless html`…` or trustedMarkup()
// produced it, so that escaping cannot be forgotten. Escaping covers text and quoted attributes: always put
// attribute values in double quotes.

class SafeMarkup {
  // A private field makes the type nominal: parsed JSON cannot pass as SafeMarkup.
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

/** Marks constant markup from this repository as safe, such as SVG icons. Never pass data. */
export function trustedMarkup(markup: string): SafeHtml {
  return new SafeMarkup(markup);
}
