// What the tests read from a page. Regular expressions suffice: the pages are our own, and attributes are
// always written in double quotes.

export function attributes(page: string, name: string): readonly string[] {
  return [...page.matchAll(new RegExp(`<[a-z][^>]*?\\s${name}="([^"]*)"`, 'g'))].map(
    (match) => match[1] ?? '',
  );
}

export function elements(page: string, name: string): readonly string[] {
  return [...page.matchAll(new RegExp(`<${name}[\\s>][^>]*>?`, 'g'))].map((match) => match[0]);
}

export function styleText(page: string): string {
  return /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
}
