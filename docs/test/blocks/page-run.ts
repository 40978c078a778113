import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CodeBlock } from './code-blocks.ts';
import type { DevStack } from './dev-stack.ts';
import { differences } from './expected-json.ts';
import { type CommandResult, ShellSession } from './shell-session.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BLOCK_TIMEOUT_MS = 45_000;
const RETRY_TIMEOUT_MS = 60_000;

/** Folder for the files that a page tells its reader to save. */
export function pageFolder(page: string): string {
  return join(ROOT, 'docs', '.run', page.replace(/\.md$/, ''));
}

/** Replaces the URLs and paths of `npm run dev` with those of this stack. */
export function localized(stack: DevStack, page: string, text: string): string {
  return text
    .replaceAll('http://127.0.0.1:8080', stack.baseUrl)
    .replaceAll('http://127.0.0.1:4010', stack.simulatorUrl)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${stack.receiverPort}`)
    .replaceAll('.listen(3000)', `.listen(${stack.receiverPort})`)
    .replaceAll('./.data/dev/', `${stack.folder}/`)
    .replaceAll(/^node (\w+\.ts)$/gm, `node ${pageFolder(page)}/$1`);
}

export function pageEnvironment(stack: DevStack, page: string): Record<string, string | undefined> {
  return {
    // `caudal` is installed on the reader's machine.
    PATH: `${ROOT}node_modules/.bin:${process.env['PATH']}`,
    HOME: stack.folder,
    NO_COLOR: '1',
    CAUDAL_API_KEY: stack.apiKey,
    CAUDAL_BASE_URL: stack.baseUrl,
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
    // Operator commands detect the settings of `npm run dev` in a clone; this stack runs in another folder.
    ...(page.startsWith('operating/') ? stack.settings : {}),
  };
}

/** Runs the shell blocks of a page in order and compares each output with the JSON block after it. */
export async function runShellBlocks(
  stack: DevStack,
  page: string,
  blocks: readonly CodeBlock[],
): Promise<number> {
  const session = new ShellSession(ROOT, pageEnvironment(stack, page));
  const expectedOutputs: { readonly log: string; readonly note: string }[] = [];
  let count = 0;
  try {
    for (const [index, block] of blocks.entries()) {
      if (block.mark.startsWith('file=')) save(stack, block);
      if (block.language !== 'sh' || block.mark === 'norun') continue;
      count += 1;
      // The test already runs this stack.
      if (block.text === 'npm run dev\n') continue;
      const text = localized(stack, page, block.text);
      if (block.mark === 'background') {
        const log = join(pageFolder(page), 'background.log');
        mkdirSync(pageFolder(page), { recursive: true });
        await session.run(`{ ${text.trim()}\n} > '${log}' 2>&1 &`, BLOCK_TIMEOUT_MS);
        expectedOutputs.push({ log, note: block.note });
        continue;
      }
      const next = blocks[index + 1];
      const shown = next?.language === 'json' ? next : undefined;
      await runBlock(stack, session, block, text, shown);
    }
    for (const expected of expectedOutputs) await waitForOutput(page, expected);
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
  const deadline = performance.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    const result = await session.run(text, BLOCK_TIMEOUT_MS);
    const errors = findErrors(stack, block, result, shown);
    if (errors.length === 0) return;
    // `until` blocks are retried: the reader may have to repeat the command.
    if (block.mark !== 'until' || performance.now() > deadline)
      throw new Error(
        `${block.page}:${block.line}\n${errors.join('\n')}\n${result.stdout}\n${result.stderr}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function findErrors(
  stack: DevStack,
  block: CodeBlock,
  result: CommandResult,
  shown: CodeBlock | undefined,
): readonly string[] {
  if (result.status !== 0) return [`exited with ${result.status}`];
  if (!shown) return isProblem(result.stdout) ? ['the response is a problem'] : [];
  const expected: unknown = JSON.parse(localized(stack, block.page, shown.text));
  try {
    return differences(expected, JSON.parse(result.stdout), shown.mark === 'shape');
  } catch {
    return ['the output is not JSON'];
  }
}

/** curl succeeds with any response; a page without expected output expects a success. */
function isProblem(stdout: string): boolean {
  return /^\{"type":"[^"]*\/docs\/errors\//m.test(stdout);
}

async function waitForOutput(
  page: string,
  { log, note }: { readonly log: string; readonly note: string },
): Promise<void> {
  const deadline = performance.now() + RETRY_TIMEOUT_MS;
  while (!readFileSync(log, 'utf8').includes(note)) {
    if (performance.now() > deadline)
      throw new Error(
        `${page}: the background block did not print "${note}"; output:\n${readFileSync(log, 'utf8')}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
