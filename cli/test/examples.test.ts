import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../server/test/harness/stack.ts';
import { ALL_COMMANDS } from '../src/all-commands.ts';
import { addressOf, CommandLine, MAIN } from './command-line.ts';
import { fundedStack } from './funded-stack.ts';

/** They run until somebody ends them, ask on a terminal, or name a server of yours; other tests run them. */
const NOT_ALONE = /^caudal (?:dev|login|logout|profiles use)\b|^caudal listen(?!.*--exit-after)/;
/** A payout has left before a person can type; no server listens at the example's address, no anomaly has its id. */
const SAYS_NO = /^caudal (?:payouts cancel|endpoints test|payins accept)\b/;

let stack: Stack;
let shop: CommandLine;

beforeAll(async () => {
  stack = await fundedStack();
  const { apiKey } = stack.organization;
  shop = new CommandLine({
    CAUDAL_API_KEY: apiKey,
    CAUDAL_BASE_URL: addressOf(stack),
    CAUDAL_SIMULATOR_URL: stack.simulatorUrl,
  });
  writeFileSync(join(shop.folder, 'caudal'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  await shop.run('trigger', 'payin.confirmed');
});
afterAll(() => stack.stop());

const groups = Map.groupBy(ALL_COMMANDS, ({ name }) => name.split(' ')[0] ?? name);

test.concurrent.each([...groups.keys()])(
  'every example of caudal %s works as typed',
  async (group) => {
    for (const example of (groups.get(group) ?? []).flatMap(({ examples }) => examples)) {
      if (NOT_ALONE.test(example)) continue;
      const env = { ...shop.env, PATH: `${shop.folder}:${shop.env['PATH']}` };
      const ran = await promisify(execFile)('bash', ['-c', example], { env, cwd: shop.folder }).then(
        () => ({ code: 0, said: '' }),
        (error: { code: number; stderr: string }) => ({ code: error.code, said: error.stderr }),
      );
      const code = SAYS_NO.test(example) ? 1 : 0;
      expect({ example, ...ran }).toMatchObject({ example, code });
    }
  },
  120_000,
);
