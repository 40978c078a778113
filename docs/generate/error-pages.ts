import { STATUS_CODES } from 'node:http';
import {
  ERRORS,
  type ErrorCode,
  type ErrorEntry,
  type Language,
} from '../../server/src/kit/error-catalogue.ts';
import { ERROR_WORDS } from './error-words.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import type { Page } from './page.ts';

/** Members a problem carries beyond the common ones, as an example on its page. */
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

/** A page for each problem and one for all, in both languages. Problems' `type` leads here. */
export function errorPages(baseUrl: string): readonly Page[] {
  return (['en', 'es'] as const).flatMap((language) => [
    indexPage(language),
    ...CODES.map((each) => errorPage(each, language, baseUrl)),
  ]);
}

function addressOf(path: string, language: Language): string {
  return language === 'en' ? `errors${path}` : `es/errors${path}`;
}

/** The reader's choice wins over the language of their browser. */
function otherLanguage(path: string, language: Language): string {
  const other = language === 'en' ? 'es' : 'en';
  return `[${ERROR_WORDS[language].otherLanguage}](/docs/errors${path}?lang=${other})`;
}

function statusName(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

function errorPage(name: ErrorCode, language: Language, baseUrl: string): Page {
  const entry: ErrorEntry = ERRORS[name];
  const words = ERROR_WORDS[language];
  return {
    slug: addressOf(`/${name}`, language),
    title: entry.title[language],
    description: entry.cause[language].replaceAll('`', ''),
    settings: {
      sidebar: { label: name },
      tableOfContents: false,
      ...(language === 'es' ? { prev: false, next: false } : {}),
    },
    body: parts(
      table(
        [words.code, words.status, words.retry],
        [[code(name), statusName(entry.status), words.chip[entry.retry]]],
      ),
      `## ${words.cause}`,
      prose(entry.cause[language]),
      `## ${words.remedy}`,
      prose(entry.remedy[language]),
      `## ${words.retryPoll}`,
      prose(words.advice[entry.retry]),
      `## ${words.example}`,
      prose(words.exampleLead),
      block('json', JSON.stringify(exampleProblem(name, language, baseUrl), null, 2)),
      `[${words.catalogue}](/docs/${addressOf('', language)}) · ${otherLanguage(`/${name}`, language)}`,
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
  const words = ERROR_WORDS[language];
  const statuses = [...new Set(CODES.map((each) => ERRORS[each].status))].sort((one, other) => one - other);
  return {
    slug: addressOf('', language),
    title: words.catalogue,
    description: words.catalogueLead.replaceAll('`', ''),
    settings: { sidebar: { label: words.catalogue } },
    body: parts(
      prose(words.catalogueLead),
      otherLanguage('', language),
      ...statuses.map((status) =>
        parts(
          `## ${statusName(status)}`,
          table(
            [words.code, words.cause, words.retry],
            CODES.filter((each) => ERRORS[each].status === status)
              .sort((one, other) => (one < other ? -1 : 1))
              .map((each) => [
                `[${code(each)}](/docs/${addressOf(`/${each}`, language)})`,
                plain(ERRORS[each].title[language]),
                words.chip[ERRORS[each].retry],
              ]),
          ),
        ),
      ),
    ),
  };
}
