import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CodeBlock } from './code-blocks.ts';
import type { DevStack } from './dev-stack.ts';
import { differences } from './expected-json.ts';
import { type Ran, ShellSession } from './shell-session.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BLOCK_WITHIN_MS = 45_000;
const PROMISE_WITHIN_MS = 60_000;

/** Where the files that a page has its reader save are put. */
export function pageFolder(page: string): string {
  return join(ROOT, 'docs', '.run', page.replace(/\.md$/, ''));
}

/** The page's addresses and paths are those of `npm run dev`; this run has others when those are taken. */
export function localized(stack: DevStack, page: string, text: string): string {
  return text
    .replaceAll('http://127.0.0.1:8080', stack.baseUrl)
    .replaceAll('http://127.0.0.1:4010', stack.simulatorUrl)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${stack.receiverPort}`)
    .replaceAll('.listen(3000)', `.listen(${stack.receiverPort})`)
    .replaceAll('./.data/dev/', `${stack.folder}/`)
    .replaceAll(/^node (\w+\.ts)$/gm, `node ${pageFolder(page)}/$1`);
}

export function environmentOf(stack: DevStack, page: string): Record<string, string | undefined> {
  return {
    PATH: process.env['PATH'],
    HOME: stack.folder,
    NO_COLOR: '1',
    CAUDAL_API_KEY: stack.apiKey,
    CAUDAL_BASE_URL: stack.baseUrl,
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
    // Operators' commands find these by themselves in a clone whose `npm run dev` is up; this stack is elsewhere.
    ...(page.startsWith('operating/') ? stack.settings : {}),
  };
}

/** Runs the shell blocks of a page in order, and holds each answer against what the page shows after it. */
export async function runShellBlocks(
  stack: DevStack,
  page: string,
  blocks: readonly CodeBlock[],
): Promise<number> {
  const session = new ShellSession(ROOT, environmentOf(stack, page));
  const promises: { readonly log: string; readonly words: string }[] = [];
  let count = 0;
  try {
    for (const [index, block] of blocks.entries()) {
      if (block.mark.startsWith('file=')) save(stack, block);
      if (block.language !== 'sh' || block.mark === 'norun') continue;
      count += 1;
      // The stack is up already, started by the same script.
      if (block.text === 'npm run dev\n') continue;
      const text = localized(stack, page, block.text);
      if (block.mark === 'background') {
        const log = join(pageFolder(page), 'background.log');
        mkdirSync(pageFolder(page), { recursive: true });
        await session.run(`{ ${text.trim()}\n} > '${log}' 2>&1 &`, BLOCK_WITHIN_MS);
        promises.push({ log, words: block.words });
        continue;
      }
      const next = blocks[index + 1];
      const shown = next?.language === 'json' ? next : undefined;
      await runBlock(stack, session, block, text, shown);
    }
    for (const promise of promises) await printed(page, promise);
  } finally {
    session.end();
  }
  return count;
}

function save(stack: DevStack, { page, mark, text }: CodeBlock): void {
  mkdirSync(pageFolder(page), { recursive: true });
  writeFileSync(join(pageFolder(page), mark.slice('file='.length)), localized(stack, page, text));
}

async function runBlock(
  stack: DevStack,
  session: ShellSession,
  block: CodeBlock,
  text: string,
  shown: CodeBlock | undefined,
): Promise<void> {
  const deadline = performance.now() + PROMISE_WITHIN_MS;
  for (;;) {
    const ran = await session.run(text, BLOCK_WITHIN_MS);
    const faults = faultsOf(stack, block, ran, shown);
    if (faults.length === 0) return;
    // `until` says that the reader may have to ask again.
    if (block.mark !== 'until' || performance.now() > deadline)
      throw new Error(`${block.page}:${block.line}\n${faults.join('\n')}\n${ran.stdout}\n${ran.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function faultsOf(
  stack: DevStack,
  block: CodeBlock,
  ran: Ran,
  shown: CodeBlock | undefined,
): readonly string[] {
  if (ran.status !== 0) return [`ended with ${ran.status}`];
  if (!shown) return isProblem(ran.stdout) ? ['a problem was answered'] : [];
  const expected: unknown = JSON.parse(localized(stack, block.page, shown.text));
  try {
    return differences(expected, JSON.parse(ran.stdout), shown.mark === 'shape');
  } catch {
    return ['the answer is not JSON'];
  }
}

/** curl is content with any answer; a page that shows none means a good one. */
function isProblem(stdout: string): boolean {
  return /^\{"type":"[^"]*\/docs\/errors\//m.test(stdout);
}

async function printed(
  page: string,
  { log, words }: { readonly log: string; readonly words: string },
): Promise<void> {
  const deadline = performance.now() + PROMISE_WITHIN_MS;
  while (!readFileSync(log, 'utf8').includes(words)) {
    if (performance.now() > deadline)
      throw new Error(
        `${page}: in the background "${words}" was never printed, but\n${readFileSync(log, 'utf8')}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
