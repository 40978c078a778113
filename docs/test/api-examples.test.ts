import { fileURLToPath } from 'node:url';
import { Caudal } from '@caudal/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../scripts/testing/patience.ts';
import { allPages } from '../generate/all-pages.ts';
import { blocksIn, type CodeBlock } from './blocks/code-blocks.ts';
import { type DevStack, startDevStack } from './blocks/dev-stack.ts';
import { ExampleResources } from './blocks/example-resources.ts';
import { localized, pageEnvironment } from './blocks/page-run.ts';
import { runStatements } from './blocks/sdk-statement.ts';
import { ShellSession } from './blocks/shell-session.ts';
import { OPERATIONS } from './openapi-names.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [OVERVIEW, ...PAGES] = allPages()
  .filter(({ slug }) => slug === 'api' || slug.startsWith('api/'))
  .map(({ slug, body }) => ({ slug, blocks: blocksIn(slug, body) }));
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const CURL_TIMED_OUT = 28;

let stack: DevStack;
let caudal: Caudal;
let resources: ExampleResources;
beforeAll(async () => {
  stack = await startDevStack();
  const [setup] = OVERVIEW?.blocks ?? [];
  const statements = setup?.text.replace(/^import .*\n/, '') ?? '';
  const env = { CAUDAL_API_KEY: stack.apiKey, CAUDAL_BASE_URL: stack.baseUrl };
  caudal = (await runStatements(statements, { Caudal, process: { env } })) as Caudal;
  resources = new ExampleResources(stack, caudal);
});
afterAll(() => stack?.stop());

const count = (blocks: readonly CodeBlock[], wanted: string) =>
  blocks.filter(({ language }) => language === wanted).length;

describe('the examples of the API reference, run in order, succeed', () => {
  it.each(PAGES.map(({ slug, blocks }) => [slug, count(blocks, 'sh'), count(blocks, 'ts'), blocks] as const))(
    '%s: %i shell and %i SDK examples',
    async (slug, shell, sdk, blocks) => {
      if (slug === 'api/payouts') await resources.pausePayouts();
      try {
        expect(await runExamples(slug, blocks)).toEqual({ sh: shell, ts: sdk });
      } finally {
        if (slug === 'api/payouts') resources.resumePayouts();
      }
    },
  );

  it('are complete: every operation has one, and other blocks show responses', () => {
    const blocks = PAGES.flatMap((page) => page.blocks);
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const withoutOne = OPERATIONS.filter(({ request }) => !commands.some((text) => calls(text, request)));
    expect(withoutOne.map(({ request }) => request)).toEqual([]);
    const others = blocks.filter((block) => !isExample(block));
    expect(others.filter(({ language }) => language !== 'json' && language !== 'txt')).toEqual([]);
    expect(blocks.filter(({ mark }) => mark !== '')).toEqual([]);
  });
});

/** Runs the examples of a page and returns how many succeeded. */
async function runExamples(slug: string, blocks: readonly CodeBlock[]): Promise<Record<string, number>> {
  const session = new ShellSession(ROOT, pageEnvironment(stack, slug));
  const succeeded = { sh: 0, ts: 0 };
  // Ids that the page created, by language: the examples of each language have their own resources.
  const created: Record<string, string> = {};
  try {
    for (const { language, text, line } of blocks.filter(isExample)) {
      const example = await withRealIds(slug, localized(stack, slug, text), created[language]);
      const running = language === 'sh' ? runShell(session, example) : runSdk(example);
      const result = await running.catch((cause: unknown) => {
        throw new Error(`${slug}, line ${line}:\n${example}`, { cause });
      });
      succeeded[language === 'sh' ? 'sh' : 'ts'] += 1;
      const id = result?.id ?? result?.paymentLinkId;
      if (id !== undefined) created[language] = id;
    }
  } finally {
    session.end();
  }
  return succeeded;
}

function isExample({ language }: CodeBlock): boolean {
  return language === 'sh' || language === 'ts';
}

function calls(text: string, request: string): boolean {
  const [method = '', path = ''] = request.split(' ');
  const url = new RegExp(`'http://[^/']+${path.replaceAll(/\{\w+\}/g, "[^/'?]+")}['?]`);
  const used = / -X (\w+) /.exec(text)?.[1] ?? 'GET';
  return text.startsWith('curl ') && used === method && url.test(text);
}

/** Replaces the example ids with ids of this stack. */
async function withRealIds(slug: string, text: string, created: string | undefined): Promise<string> {
  if (!ID.test(text)) return text;
  const ids = /anomal/i.test(text)
    ? await resources.createAnomaly()
    : [slug === 'api/events' ? await resources.newestEventId() : created];
  let index = 0;
  return text.replaceAll(new RegExp(ID, 'g'), (shown) => ids[index++] ?? shown);
}

interface Result {
  readonly id?: string;
  readonly paymentLinkId?: string;
}

async function runShell(session: ShellSession, text: string): Promise<Result | null> {
  const streams = text.startsWith('curl -N');
  const options = streams ? '--max-time 2' : '--fail-with-body';
  const command = text.replace(/^curl/, `curl --silent ${options}`);
  const { status, stdout, stderr } = await session.run(command, PATIENCE_MS);
  // An open stream ends only with the time limit of curl.
  if (status !== (streams ? CURL_TIMED_OUT : 0)) throw new Error(`exited with ${status}: ${stdout}${stderr}`);
  return stdout.startsWith('{') ? (JSON.parse(stdout) as Result) : null;
}

async function runSdk(text: string): Promise<Result | null> {
  if (text.includes('.stream(')) return runStream(text);
  const result = await runStatements(text, { caudal, console: { log: () => {} } });
  return result ?? null;
}

/** Creates events until the example has printed one; then the loop of the example ends. */
async function runStream(statements: string): Promise<null> {
  const printed = new Error('printed');
  const log = (id: string) => {
    expect(id).toMatch(ID);
    throw printed;
  };
  const ended = new AbortController();
  const example = runStatements(statements, { caudal, console: { log } })
    .catch((error: unknown) => error)
    .finally(() => ended.abort());
  while (!ended.signal.aborted) await resources.createEvent();
  expect(await example).toBe(printed);
  return null;
}
