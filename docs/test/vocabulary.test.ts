import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/src/tree.ts';
import { SETTINGS } from '../../server/src/config.ts';
import { ERRORS } from '../../server/src/kit/error-catalogue.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';
import { PAYIN_ERROR_CODES } from '../../server/src/payins/payin.ts';
import { FAILURE_REASONS } from '../../server/src/webhooks/sending/send-failure.ts';
import { TEST_KEYS } from '../../simulator/src/breb/test-keys.ts';
import { MAGIC_DOCUMENTS } from '../../simulator/src/magic-documents.ts';
import { handWrittenPages } from './blocks/code-blocks.ts';
import { enumValues, OPERATIONS } from './openapi-names.ts';

const DOCS = fileURLToPath(new URL('..', import.meta.url));
const TEXTS = handWrittenPages().map((page) => [page, readFileSync(join(DOCS, page), 'utf8')] as const);

/** Words of pages written by hand that stand for something in the code must be in the code. */
function strange(pattern: RegExp, known: (word: string) => boolean): readonly string[] {
  return TEXTS.flatMap(([page, text]) =>
    [...text.matchAll(pattern)]
      .map((match) => match[1] ?? '')
      .filter((word) => !known(word))
      .map((word) => `${page}: ${word}`),
  );
}

function sourceOf(folder: string): string {
  const root = join(DOCS, '..', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
}

/** The environment of whoever uses the command line, the SDK or the example. */
const OF_USERS = ['CAUDAL_API_KEY', 'CAUDAL_BASE_URL', 'WEBHOOK_SECRET'];

describe('what the pages written by hand name', () => {
  it('are states, codes and settings that exist', () => {
    const values = enumValues();
    const choices = OPERATOR_COMMANDS.flatMap(({ options }) =>
      options.flatMap((option) => option.choices ?? []),
    );
    const settings = [...Object.keys(SETTINGS), ...OF_USERS];
    const known = new Set<string>([...values, ...PAYIN_ERROR_CODES, ...choices, ...settings]);
    expect(strange(/`([A-Z][A-Z_]{2,}[A-Z])`/g, (word) => known.has(word))).toEqual([]);
  });

  it('are magic values that the simulator knows', () => {
    const documents = new Set(MAGIC_DOCUMENTS.map(({ document }) => document));
    expect(strange(/\b((?!1000000000)10000000[0-3]\d)\b/g, (word) => documents.has(word))).toEqual([]);
    expect(strange(/(@TEST[A-Z]+)/g, (word) => TEST_KEYS.has(word))).toEqual([]);
  });

  it('are requests that the API takes', () => {
    const known = new Set(OPERATIONS.map(({ request }) => request));
    expect(strange(/`((?:GET|POST|PATCH|DELETE) \/[^`? ]*)`/g, (word) => known.has(word))).toEqual([]);
  });

  it('are problems that the catalogue has', () => {
    expect(strange(/\b[45]\d\d `([a-z_]+)`/g, (word) => word in ERRORS)).toEqual([]);
  });

  it('are, in the guide on webhooks, all reasons why an attempt had no answer, and no other', () => {
    const [, guide = ''] = TEXTS.find(([page]) => page === 'guides/webhooks.md') ?? [];
    const [, table = ''] = /\| `error` \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(guide) ?? [];
    const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason);
    expect(new Set(named)).toEqual(new Set(FAILURE_REASONS));
  });

  it('are commands that exist', () => {
    const names = [...COMMANDS, ...OPERATOR_COMMANDS].map(({ name }) => name);
    const isCommand = (typed: string) =>
      names.some((name) => typed === name || typed.startsWith(`${name} `) || name.startsWith(`${typed} `)) ||
      /^(?:help|completion)\b/.test(typed);
    expect(strange(/(?:`|npx )caudal ([a-z]+(?: [a-z]+)?)/g, isCommand)).toEqual([]);
  });

  it('are metrics that the server reports', () => {
    const source = sourceOf('server/src');
    expect(
      strange(/`(caudal_[a-z_]+)(?:\{|`)/g, (word) => source.includes(word) || ROLES.includes(word)),
    ).toEqual([]);
  });
});

const ROLES = ['caudal_read', 'caudal_batch', 'caudal_system', 'caudal_backup', 'caudal_owner'];
