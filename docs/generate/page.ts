/** A page made from code. */
export interface Page {
  /** Its address below /docs. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** Further front matter of Starlight. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Markdown. */
  readonly body: string;
}

export function pageText({ title, description, settings, body }: Page): string {
  const front = { title, description, ...settings };
  // JSON is YAML, and needs no rules about quotes.
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`;
}
