/** A page generated from code. */
export interface Page {
  /** Path below /docs. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** Additional Starlight front matter. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Markdown. */
  readonly body: string;
}

export function pageText({ title, description, settings, body }: Page): string {
  const front = { title, description, ...settings };
  // JSON is valid YAML and needs no YAML quoting rules.
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`;
}
