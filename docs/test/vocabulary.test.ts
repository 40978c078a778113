import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/src/command-list.ts';
import { ERRORS } from '../../server/src/kit/error-catalogue.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';
import { PAYIN_ERROR_CODES } from '../../server/src/payins/payin.columns.ts';
import { fileSetting, SETTINGS_WITH_FILES } from '../../server/src/settings/secret-files.ts';
import { SETTINGS } from '../../server/src/settings/settings.ts';
import { FAILURE_REASONS } from '../../server/src/webhooks/sending/send-failure.ts';
import { TEST_KEYS } from '../../simulator/src/breb/test-keys.ts';
import { MAGIC_DOCUMENTS } from '../../simulator/src/magic-documents.ts';
import { handWrittenPages } from './blocks/code-blocks.ts';
import { enumValues, OPERATIONS } from './openapi-names.ts';

const DOCS = fileURLToPath(new URL('..', import.meta.url));
const TEXTS = handWrittenPages().map((page) => [page, readFileSync(join(DOCS, page), 'utf8')] as const);

/** Identifiers in hand-written pages that do not exist in the code. */
function findUnknown(pattern: RegExp, isKnown: (name: string) => boolean): readonly string[] {
  return TEXTS.flatMap(([page, text]) =>
    [...text.matchAll(pattern)]
      .map((match) => match[1] ?? '')
      .filter((name) => !isKnown(name))
      .map((name) => `${page}: ${name}`),
  );
}

function readSource(folder: string): string {
  const root = join(DOCS, '..', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
}

/** Environment variables of CLI and SDK users. */
const CLIENT_VARIABLES = ['CAUDAL_API_KEY', 'CAUDAL_BASE_URL', 'WEBHOOK_SECRET'];

describe('names in the hand-written pages', () => {
  it('are existing states, codes and settings', () => {
    const values = enumValues();
    const choices = OPERATOR_COMMANDS.flatMap(({ options }) =>
      options.flatMap((option) => option.choices ?? []),
    );
    const files = SETTINGS_WITH_FILES.map(fileSetting);
    const settings = [...Object.keys(SETTINGS), ...files, ...CLIENT_VARIABLES];
    const known = new Set<string>([...values, ...PAYIN_ERROR_CODES, ...choices, ...settings]);
    expect(findUnknown(/`([A-Z][A-Z_]{2,}[A-Z])`/g, (name) => known.has(name))).toEqual([]);
  });

  it('are test values of the simulator', () => {
    const documents = new Set(MAGIC_DOCUMENTS.map(({ document }) => document));
    expect(findUnknown(/\b((?!1000000000)10000000[0-3]\d)\b/g, (name) => documents.has(name))).toEqual([]);
    expect(findUnknown(/(@TEST[A-Z]+)/g, (name) => TEST_KEYS.has(name))).toEqual([]);
  });

  it('are existing API requests', () => {
    const known = new Set(OPERATIONS.map(({ request }) => request));
    expect(findUnknown(/`((?:GET|POST|PATCH|DELETE) \/[^`? ]*)`/g, (name) => known.has(name))).toEqual([]);
  });

  it('are existing problem codes', () => {
    expect(findUnknown(/\b[45]\d\d `([a-z_]+)`/g, (name) => name in ERRORS)).toEqual([]);
  });

  it('are exactly the failure reasons of delivery attempts, in the webhooks guide', () => {
    const [, guide = ''] = TEXTS.find(([page]) => page === 'guides/webhooks.md') ?? [];
    const [, table = ''] = /\| `error` \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(guide) ?? [];
    const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason);
    expect(new Set(named)).toEqual(new Set(FAILURE_REASONS));
  });

  it('are existing commands', () => {
    const names = [...COMMANDS, ...OPERATOR_COMMANDS].map(({ name }) => name);
    const isCommand = (typed: string) =>
      names.some((name) => typed === name || typed.startsWith(`${name} `) || name.startsWith(`${typed} `)) ||
      /^(?:help|completion)\b/.test(typed);
    expect(findUnknown(/(?:`|npx )caudal ([a-z]+(?: [a-z]+(?:-[a-z]+)*)?)/g, isCommand)).toEqual([]);
  });

  it('are existing metrics', () => {
    const source = readSource('server/src');
    expect(
      findUnknown(/`(caudal_[a-z_]+)(?:\{|`)/g, (name) => source.includes(name) || ROLES.includes(name)),
    ).toEqual([]);
  });
});

const ROLES = ['caudal_read', 'caudal_batch', 'caudal_system', 'caudal_backup', 'caudal_owner'];
