/** npm run e2e: tests of the checkout pages and the docs in a real browser. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';

const HELP = `npm run e2e [-- OPTIONS]: browser tests (Debian: apt-get install chromium)

  --long      also the files that need real time, outages or volume (*.long.e2e.ts), one file at a time
  --screens   save a screenshot of every screen in e2e/screens
  --network   measure the checkout on a slow network instead of testing it
  --help      show this help

Set CHROMIUM to use a browser other than /usr/bin/chromium.
`;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    screens: { type: 'boolean' },
    network: { type: 'boolean' },
    help: { type: 'boolean' },
  },
  strict: true,
});
const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
if (values.help) process.stdout.write(HELP);
else if (!existsSync(chromium)) {
  console.error(`No browser found at ${chromium}.\n\n${HELP}`);
  process.exitCode = 1;
} else {
  const run = spawnSync('npx', ['vitest', 'run', '--config', 'e2e/vitest.config.ts'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROMIUM: chromium,
      ...(values.screens ? { E2E_SCREENS: 'e2e/screens' } : {}),
      ...(values.long ? { E2E_LONG: '1' } : {}),
      ...(values.network ? { E2E_NETWORK: '1' } : {}),
    },
  });
  process.exitCode = run.status ?? 1;
}
