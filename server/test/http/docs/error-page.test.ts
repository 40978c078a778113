import { describe, expect, it } from 'vitest';
import { errorIndexPage, errorPage, notFoundPage } from '../../../src/http/docs/error-page.ts';
import { errorEntries, referenceTaken } from './error-fixture.ts';
import { attributes } from './page-reader.ts';

function text(page: string): string {
  return page
    .slice(page.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"');
}

describe('an error page', () => {
  it('tells cause, remedy and whether to retry, in the language asked for', () => {
    const english = errorPage(referenceTaken, 'en');
    expect(english).toContain('<html lang="en">');
    expect(text(english)).toContain('already has a payin, payout or link with this reference');
    expect(text(english)).toContain('Not as it is');
    const spanish = errorPage(referenceTaken, 'es');
    expect(spanish).toContain('<html lang="es">');
    expect(text(spanish)).toContain('La referencia ya se usó');
    expect(text(spanish)).toContain('Haga el cambio descrito arriba');
  });

  it('shows the problem document as the server answers it, without marks and with its own members', () => {
    const problem = text(errorPage(referenceTaken, 'en'));
    const shown: unknown = JSON.parse(problem.slice(problem.indexOf('{'), problem.lastIndexOf('}') + 1));
    expect(shown).toMatchObject({
      type: '/docs/errors/reference_taken',
      title: 'The reference was already used',
      status: 409,
      detail: expect.stringMatching(/^[^`]*$/),
      code: 'reference_taken',
      existingId: expect.any(String),
    });
  });

  it('offers the other language and keeps Spanish while browsing', () => {
    expect(attributes(errorPage(referenceTaken, 'en'), 'href')).toEqual(
      expect.arrayContaining(['?lang=es', '/docs/errors']),
    );
    expect(attributes(errorPage(referenceTaken, 'es'), 'href')).toEqual(
      expect.arrayContaining(['?lang=en', '/docs/errors?lang=es']),
    );
  });

  it('escapes whatever the catalogue says', () => {
    const evil = '<script>alert(1)</script>';
    const both = { en: evil, es: evil };
    const entry = {
      code: evil,
      status: 400,
      title: both,
      cause: both,
      remedy: both,
      retry: 'never',
    } as const;
    expect(errorPage(entry, 'en')).not.toContain('<script');
    expect(errorIndexPage([entry], 'es')).not.toContain('<script');
  });
});

describe('the error index', () => {
  it('lists every code once, by status and then by name, without changing the catalogue', () => {
    const before = [...errorEntries];
    const links = attributes(errorIndexPage(errorEntries, 'en'), 'href').filter((href) =>
      href.startsWith('/docs/errors/'),
    );
    expect(links).toEqual([
      '/docs/errors/invalid_input',
      '/docs/errors/idempotency_in_flight',
      '/docs/errors/payout_already_sent',
      '/docs/errors/reference_taken',
      '/docs/errors/service_unavailable',
    ]);
    expect(errorEntries).toEqual(before);
  });
});

describe('the page for what does not exist', () => {
  it('says so in both languages and leads on', () => {
    expect(text(notFoundPage('es'))).toContain('Esta página no existe');
    expect(text(notFoundPage('en'))).toContain('This page does not exist');
    expect(attributes(notFoundPage('en'), 'href')).toEqual(expect.arrayContaining(['/docs', '/docs/errors']));
  });
});
