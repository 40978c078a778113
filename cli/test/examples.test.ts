import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../server/test/harness/stack.ts';
import { ALL_COMMANDS } from '../src/all-commands.ts';
import { CommandLine, MAIN, PATIENT, stackUrl } from './command-line.ts';
import { fundedStack } from './funded-stack.ts';
import { waitUntilSent } from './wait-until-sent.ts';

/** Examples that run until interrupted, prompt on a terminal, or name another server; other tests cover them. */
const NOT_RUN = /^caudal (?:dev|login|logout|profiles use)\b|^caudal listen(?!.*--exit-after)/;
/** Examples that exit with 1: the payout is already sent, no server listens at the URL, no anomaly has the id. */
const EXITS_WITH_1 = /^caudal (?:payouts cancel|endpoints test|payins accept)\b/;
/** Examples that need the order of a payout that the example before it created. */
const ENDS_PAYOUT = /^caudal simulate (?:settle|reject) (\S+)/;

let stack: Stack;
let shop: CommandLine;

beforeAll(async () => {
  stack = await fundedStack();
  const { apiKey } = stack.organization;
  shop = new CommandLine({
    CAUDAL_API_KEY: apiKey,
    CAUDAL_BASE_URL: stackUrl(stack),
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
  });
  const program = [process.execPath, ...PATIENT, MAIN].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(shop.folder, 'caudal'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  await shop.run('trigger', 'payin.confirmed');
});
afterAll(() => stack.stop());

const groups = Map.groupBy(ALL_COMMANDS, ({ name }) => name.split(' ')[0] ?? name);

test.concurrent.each([...groups.keys()])('every help example of caudal %s runs as written', async (group) => {
  for (const example of (groups.get(group) ?? []).flatMap(({ examples }) => examples)) {
    if (NOT_RUN.test(example)) continue;
    const [, payout] = ENDS_PAYOUT.exec(example) ?? [];
    if (payout !== undefined) await waitUntilSent(stack, shop, payout);
    const env = { ...shop.env, PATH: `${shop.folder}:${shop.env['PATH']}` };
    const ran = await promisify(execFile)('bash', ['-c', example], { env, cwd: shop.folder }).then(
      () => ({ code: 0, output: '' }),
      (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr }),
    );
    const code = EXITS_WITH_1.test(example) ? 1 : 0;
    expect({ example, ...ran }).toMatchObject({ example, code });
  }
});
