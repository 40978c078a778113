import { describe, expect, it } from 'vitest';
import { violationsOf } from './architecture-rules.ts';

function messages(path: string, text: string): string[] {
  return violationsOf([{ path, text }]).map((violation) => violation.message);
}

describe('the import rule', () => {
  it.each([
    ['kit that reaches for the database', 'server/src/kit/money.ts', "import { pool } from '../db/pool.ts';"],
    [
      'a domain that imports its neighbour',
      'server/src/payins/payin.ts',
      "import { x } from '../payouts/payout.ts';",
    ],
    [
      'a type import sideways',
      'server/src/payins/payin.ts',
      "import type { X } from '../payouts/payout.ts';",
    ],
    [
      'a rail that sees the database',
      'server/src/rails/breb/connector.ts',
      "import { q } from '../../db/pool.ts';",
    ],
    [
      'a rail that sees another rail',
      'server/src/rails/breb/connector.ts',
      "import { q } from '../pse/client.ts';",
    ],
    [
      'http that goes to a store',
      'server/src/http/api/x.route.ts',
      "import { s } from '../../payins/payin.store.ts';",
    ],
    [
      'a merchant route that takes the system pool',
      'server/src/http/api/x.route.ts',
      "import { s } from '../../db/system.ts';",
    ],
    ['a dynamic import', 'server/src/kit/ids.ts', "const x = await import('../flows/create-payins.ts');"],
    [
      'an import over several lines',
      'server/src/kit/ids.ts',
      "import {\n  a,\n  b,\n} from '../flows/create-payins.ts';",
    ],
    ['a re-export', 'server/src/kit/ids.ts', "export * from '../http/app.ts';"],
    [
      'a simulator that reads the server',
      'simulator/src/app.ts',
      "import { x } from '../../server/src/kit/ids.ts';",
    ],
    ['a room nobody declared', 'server/src/misc/x.ts', "import { x } from '../kit/ids.ts';"],
    ['an SDK with a dependency', 'sdk/src/client.ts', "import { x } from 'undici';"],
    ['an SDK that only runs on Node', 'sdk/src/client.ts', "import { x } from 'node:crypto';"],
    [
      'a command line that goes around the API',
      'cli/src/run.ts',
      "import { x } from '../../server/src/deps.ts';",
    ],
    ['a command line with a dependency', 'cli/src/run.ts', "import { x } from 'commander';"],
    ['a way out of the house', 'server/src/kit/ids.ts', "import { x } from '../../../simulator/src/app.ts';"],
  ])('refuses %s', (_name, path, text) => {
    expect(messages(path, text)).toHaveLength(1);
  });

  it.each([
    [
      'a flow that uses two domains',
      'server/src/flows/payins/create-payins.ts',
      "import { a } from '../payins/payin.store.ts';\nimport { b } from '../organizations/organization.ts';",
    ],
    [
      'a domain that uses db and kit',
      'server/src/payins/payin.store.ts',
      "import { a } from '../db/tx.ts';\nimport { b } from '../kit/money.ts';",
    ],
    [
      'a rail that uses its contract',
      'server/src/rails/pse/connector.ts',
      "import type { a } from '../contract.ts';",
    ],
    ['a package', 'server/src/kit/money.ts', "import { z } from 'zod';"],
  ])('lets through %s', (_name, path, text) => {
    expect(messages(path, text)).toEqual([]);
  });
});

describe('the traps', () => {
  it.each([
    ['the environment outside config', 'server/src/http/app.ts', 'const x = process.env.PORT;'],
    ["the process's clock", 'server/src/flows/payins/create-payins.ts', 'const at = Date.now();'],
    ['randomness outside kit', 'server/src/payins/payin.ts', 'const id = randomUUID();'],
    [
      'float arithmetic on money',
      'server/src/payins/payin.view.ts',
      'const amount = (cents / 100).toFixed(2);',
    ],
    ['a notification in SQL', 'server/migrations/0001_x.sql', "select pg_notify('x', 'y');"],
    [
      'a notification by a flow',
      'server/src/flows/payouts/create-payouts.ts',
      "await tx.query('notify caudal_work');",
    ],
  ])('refuses %s', (_name, path, text) => {
    expect(messages(path, text)).toHaveLength(1);
  });
});
