import { STATUS_CODES } from 'node:http';
import {
  ERRORS,
  type ErrorCode,
  type ErrorEntry,
  type Language,
} from '../../server/src/kit/error-catalogue.ts';
import { ERROR_PAGE_MESSAGES } from './error-page-messages.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import type { Page } from './page.ts';

/** Examples of problem members beyond the common ones. */
const EXAMPLE_MEMBERS: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  reference_taken: { existingId: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10' },
  insufficient_scope: { requiredScope: 'payins:write' },
  invalid_request: { errors: [{ path: 'amountInCents', code: 'too_small', message: 'Must be at least 1.' }] },
  unknown_field: {
    errors: [
      { path: 'amountInCent', code: 'unknown_field', message: 'There is no such field or parameter here.' },
    ],
  },
};

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** A page for each problem and an index, in both languages. The `type` of a problem is its page. */
export function errorPages(baseUrl: string): readonly Page[] {
  return (['en', 'es'] as const).flatMap((language) => [
    indexPage(language),
    ...CODES.map((each) => errorPage(each, language, baseUrl)),
  ]);
}

function pageSlug(path: string, language: Language): string {
  return language === 'en' ? `errors${path}` : `es/errors${path}`;
}

/** Links to the other language with `?lang=`, which overrides the browser language. */
function otherLanguage(path: string, language: Language): string {
  const other = language === 'en' ? 'es' : 'en';
  return `[${ERROR_PAGE_MESSAGES[language].otherLanguage}](/docs/errors${path}?lang=${other})`;
}

function statusName(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

function errorPage(name: ErrorCode, language: Language, baseUrl: string): Page {
  const entry: ErrorEntry = ERRORS[name];
  const messages = ERROR_PAGE_MESSAGES[language];
  return {
    slug: pageSlug(`/${name}`, language),
    title: entry.title[language],
    description: entry.cause[language].replaceAll('`', ''),
    settings: {
      sidebar: { label: name },
      tableOfContents: false,
      ...(language === 'es' ? { prev: false, next: false } : {}),
    },
    body: parts(
      table(
        [messages.code, messages.status, messages.retry],
        [[code(name), statusName(entry.status), messages.chip[entry.retry]]],
      ),
      `## ${messages.cause}`,
      prose(entry.cause[language]),
      `## ${messages.remedy}`,
      prose(entry.remedy[language]),
      `## ${messages.retryQuestion}`,
      prose(messages.advice[entry.retry]),
      `## ${messages.example}`,
      prose(messages.exampleLead),
      block('json', JSON.stringify(exampleProblem(name, language, baseUrl), null, 2)),
      `[${messages.catalogue}](/docs/${pageSlug('', language)}) · ${otherLanguage(`/${name}`, language)}`,
    ),
  };
}

function exampleProblem(name: ErrorCode, language: Language, baseUrl: string): object {
  const entry: ErrorEntry = ERRORS[name];
  return {
    type: `${baseUrl}/docs/errors/${name}`,
    title: entry.title[language],
    status: entry.status,
    detail: entry.cause[language],
    instance: '/payins',
    code: name,
    requestId: 'req_6GK10N6H3WRGWWPBP3ZQ',
    ...EXAMPLE_MEMBERS[name],
  };
}

function indexPage(language: Language): Page {
  const messages = ERROR_PAGE_MESSAGES[language];
  const statuses = [...new Set(CODES.map((each) => ERRORS[each].status))].sort((one, other) => one - other);
  return {
    slug: pageSlug('', language),
    title: messages.catalogue,
    description: messages.catalogueLead.replaceAll('`', ''),
    settings: { sidebar: { label: messages.catalogue } },
    body: parts(
      prose(messages.catalogueLead),
      otherLanguage('', language),
      ...statuses.map((status) =>
        parts(
          `## ${statusName(status)}`,
          table(
            [messages.code, messages.cause, messages.retry],
            CODES.filter((each) => ERRORS[each].status === status)
              .sort((one, other) => (one < other ? -1 : 1))
              .map((each) => [
                `[${code(each)}](/docs/${pageSlug(`/${each}`, language)})`,
                plain(ERRORS[each].title[language]),
                messages.chip[ERRORS[each].retry],
              ]),
          ),
        ),
      ),
    ),
  };
}
