import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const ARCHITECTURE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** Files below `server/src` that a recipe names. */
function namedFiles(recipe: string): string[] {
  const start = ARCHITECTURE.indexOf(`**${recipe}`);
  if (start < 0) throw new Error(`ARCHITECTURE.md has no recipe "${recipe}"`);
  const end = ARCHITECTURE.indexOf('\n**', start + 1);
  const text = ARCHITECTURE.slice(start, end);
  return [...text.matchAll(/`([a-z/-]+[\w./-]*\.ts)`/g)].map(([, file = '']) => file);
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-recipe-'));
  cpSync(join(ROOT, 'server', 'src'), join(folder, 'server', 'src'), { recursive: true });
  cpSync(join(ROOT, 'server', 'package.json'), join(folder, 'server', 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const config = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: ['server/src'] }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Replaces a text that must occur exactly once. An empty `find` creates the file. */
function edit(file: string, find: string, replace: string): void {
  const path = join(folder, 'server', 'src', file);
  if (find === '') {
    mkdirSync(dirname(path), { recursive: true });
    return writeFileSync(path, replace);
  }
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2)
    throw new Error(`${file}: expected one occurrence, found ${parts.length - 1}: ${find}`);
  writeFileSync(path, parts.join(replace));
}

function compile(): string {
  const { stdout, stderr, status } = spawnSync(
    join(ROOT, 'node_modules', '.bin', 'tsc'),
    ['--noEmit', '-p', join(folder, 'tsconfig.json')],
    { encoding: 'utf8' },
  );
  return status === 0 ? '' : stdout + stderr;
}

type Edit = readonly [file: string, find: string, replace: string];

const FIELD: readonly Edit[] = [
  [
    'payins/payin.columns.ts',
    '  callback_url: nullable(text()),\n',
    '  callback_url: nullable(text()),\n  note: nullable(text()),\n',
  ],
  [
    'http/api/create-payin.route.ts',
    '  metadata: metadata.optional(),\n',
    "  metadata: metadata.optional(),\n  note: z.string().max(100).optional().describe('A note.'),\n",
  ],
  [
    'http/api/create-payin.route.ts',
    '{ ...commonFields(input), ',
    '{ ...commonFields(input), note: input.note ?? null, ',
  ],
  [
    'flows/payment-links/open-attempt.ts',
    '          metadata: null,\n',
    '          metadata: null,\n          note: null,\n',
  ],
  [
    'payins/payin.view.ts',
    '    metadata: payin.metadata ?? {},\n',
    '    metadata: payin.metadata ?? {},\n    note: payin.note,\n',
  ],
  [
    'http/api/payin.schema.ts',
    '    metadata,\n',
    "    metadata,\n    note: z.string().nullable().describe('A note.'),\n",
  ],
  [
    'http/api/payin.schema.ts',
    "  metadata: { orderId: '1001' },\n",
    "  metadata: { orderId: '1001' },\n  note: null,\n",
  ],
  [
    'payins/payin.event.ts',
    '    metadata: payin.metadata ?? {},\n',
    '    metadata: payin.metadata ?? {},\n    note: payin.note,\n',
  ],
  [
    'http/api/event-data.schema.ts',
    'confirmedAmountInCents: true, ...STATE }',
    'confirmedAmountInCents: true, ...STATE, note: true }',
  ],
];

const EVENT: readonly Edit[] = [
  ['events/event.ts', "  'payin.declined',\n", "  'payin.declined',\n  'payin.settled',\n"],
  [
    'http/api/event-data.schema.ts',
    "  'payin.declined': payinData",
    "  'payin.settled': payinData.extend(confirmed),\n  'payin.declined': payinData",
  ],
  [
    'http/api/event-catalogue.ts',
    "  'payin.canceled': {\n",
    "  'payin.settled': { type: 'PayinSettled', when: 'It settled.', example: payin },\n  'payin.canceled': {\n",
  ],
];

const CONNECTOR: readonly Edit[] = [
  [
    'rails/example/connector.ts',
    '',
    `import { cents } from '../../kit/money.ts';
import type { CollectionStatus, CollectOrder, OpenedCollection, RailAnswer, RailConnector } from '../contract.ts';

export class ExampleConnector implements RailConnector {
  readonly capabilities = {
    rail: 'PSE' as const,
    maxOpenBatch: 1,
    maxStatusBatch: 1,
    maxCloseBatch: 0,
    opensWhilePayerWaits: true,
    needsPayer: true,
    answerWithinMs: 10_000,
    maxProcessingMs: 60_000,
    minAmount: cents(100),
    maxAmount: cents(100_000_000),
  };
  readonly banks = null;
  readonly listPayments = null;

  open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<OpenedCollection>[]> {
    return Promise.resolve(orders.map(() => ({ kind: 'unknown', cause: 'example', sent: true })));
  }

  queryStatus(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return Promise.resolve(references.map(() => ({ kind: 'unknown', cause: 'example', sent: true })));
  }

  close(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.queryStatus(references);
  }

  disconnect(): Promise<void> {
    return Promise.resolve();
  }
}
`,
  ],
  ['compose.ts', 'const pse = new PseConnector(config.pse);', 'const pse = new ExampleConnector();'],
  [
    'compose.ts',
    "import { PseConnector } from './rails/pse/connector.ts';",
    "import { ExampleConnector } from './rails/example/connector.ts';",
  ],
];

describe('the recipe', () => {
  it.each([
    { recipe: 'Add a field to a payin', edits: FIELD, optional: ['http/fields.ts'] },
    { recipe: 'Add an event', edits: EVENT, optional: ['events/event.store.ts'] },
    {
      recipe: 'Add a connector',
      edits: CONNECTOR,
      optional: ['rails/contract.ts', 'settings/rail-settings.ts'],
    },
  ])(
    '"$recipe" compiles with edits in the files that it names, and no others',
    ({ recipe, edits, optional }) => {
      for (const [file, find, replace] of edits) edit(file, find, replace);
      const edited = new Set(edits.filter(([, find]) => find !== '').map(([file]) => file));
      expect(namedFiles(recipe).filter((file) => !optional.includes(file))).toEqual(
        expect.arrayContaining([...edited]),
      );
      expect(new Set(namedFiles(recipe))).toEqual(new Set([...edited, ...optional]));
      expect(compile()).toBe('');
    },
  );

  it('needs each step: the compiler rejects a field without its schema or its value for attempts', () => {
    for (const [file, find, replace] of FIELD)
      if (!['http/api/event-data.schema.ts', 'flows/payment-links/open-attempt.ts'].includes(file))
        edit(file, find, replace);
    const errors = compile();
    expect(errors).toContain('event-data.schema.ts');
    expect(errors).toContain('open-attempt.ts');
  });
});
