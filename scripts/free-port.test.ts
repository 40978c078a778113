import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PROGRAM = `
  import { freePort } from ${JSON.stringify(new URL('stack/free-port.ts', import.meta.url).href)};
  const ports = await Promise.all(Array.from({ length: 120 }, freePort));
  console.log(JSON.stringify(ports));
  process.stdin.on('data', () => process.exit(0));
`;

test('processes that pick ports at the same time never pick the same one', async () => {
  const children = Array.from({ length: 4 }, () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]),
  );
  // Each child keeps its blocks until all have picked.
  const printed = children.map(
    ({ child }) =>
      new Promise<string>((resolve) => child.stdout?.once('data', (text) => resolve(String(text)))),
  );
  const ports = (await Promise.all(printed)).flatMap((text) => JSON.parse(text) as number[]);
  for (const { child } of children) child.stdin?.write('end\n');
  await Promise.all(children);

  expect(ports).toHaveLength(480);
  expect(new Set(ports).size).toBe(480);
});
