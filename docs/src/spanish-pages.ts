import { defineRouteMiddleware, type StarlightRouteData } from '@astrojs/starlight/route-data';
import { SPANISH } from './spanish-messages.ts';

type Sidebar = StarlightRouteData['sidebar'];

/**
 * The pages about problems exist in Spanish too. They are no locale of Starlight: it would write a Spanish twin of
 * every English page, with English text.
 */
export const onRequest = defineRouteMiddleware((context) => {
  const route = context.locals.starlightRoute;
  const { id } = route;
  if (!/^(?:es\/)?errors(?:\/|$)/.test(id)) return;
  const english = id.replace(/^es\//, '');
  for (const [hreflang, slug] of [
    ['en', english],
    ['es', `es/${english}`],
  ]) {
    const attrs = { rel: 'alternate', hreflang, href: `/docs/${slug}` };
    route.head.push({ tag: 'link', attrs, content: '' });
  }
  if (!id.startsWith('es/')) return;
  route.lang = 'es';
  route.entryMeta = { ...route.entryMeta, lang: 'es' };
  route.sidebar = inSpanish(route.sidebar);
  route.pagination = { prev: undefined, next: undefined };
  if (route.toc) {
    const [first, ...rest] = route.toc.items;
    if (first)
      route.toc = { ...route.toc, items: [{ ...first, text: words('tableOfContents.overview') }, ...rest] };
  }
  const otherwise = context.locals.t;
  const t = (key: string, values?: Record<string, string>) => {
    const text = SPANISH[key];
    if (text === undefined) return (otherwise as unknown as (...all: unknown[]) => string)(key, values);
    return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values?.[name] ?? '');
  };
  context.locals.t = Object.assign(t, {
    all: () => ({ ...otherwise.all(), ...SPANISH }),
    exists: otherwise.exists,
    dir: () => 'ltr' as const,
  }) as unknown as typeof otherwise;
});

function words(key: string): string {
  return SPANISH[key] ?? key;
}

const GROUPS: Readonly<Record<string, string>> = {
  Start: 'Inicio',
  Guides: 'Guías (en inglés)',
  Concepts: 'Conceptos (en inglés)',
  'API reference': 'Referencia de la API (en inglés)',
  Tables: 'Tablas',
  Operating: 'Operación (en inglés)',
};

function inSpanish(sidebar: Sidebar): Sidebar {
  return sidebar.map((entry) =>
    entry.type === 'group'
      ? { ...entry, label: GROUPS[entry.label] ?? entry.label, entries: inSpanish(entry.entries) }
      : entry.href === '/docs/errors'
        ? { ...entry, label: 'Problemas', href: '/docs/es/errors' }
        : { ...entry, attrs: { ...entry.attrs, lang: 'en', hreflang: 'en' } },
  );
}
