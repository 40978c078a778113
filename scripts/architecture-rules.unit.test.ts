import { describe, expect, it } from 'vitest';
import { findViolations } from './architecture-rules.ts';

function messages(path: string, text: string): string[] {
  return findViolations([{ path, text }]).map((violation) => violation.message);
}

describe('import rules', () => {
  it.each([
    ['kit that imports the database', 'server/src/kit/money.ts', "import { pool } from '../db/pool.ts';"],
    [
      'a domain that imports another domain',
      'server/src/payins/payin.ts',
      "import { x } from '../payouts/payout.ts';",
    ],
    [
      'a type import from another domain',
      'server/src/payins/payin.ts',
      "import type { X } from '../payouts/payout.ts';",
    ],
    [
      'a rail that imports the database',
      'server/src/rails/breb/connector.ts',
      "import { q } from '../../db/pool.ts';",
    ],
    [
      'a rail that imports another rail',
      'server/src/rails/breb/connector.ts',
      "import { q } from '../pse/client.ts';",
    ],
    [
      'http that imports a store',
      'server/src/http/api/x.route.ts',
      "import { s } from '../../payins/payin.store.ts';",
    ],
    [
      'a merchant route that imports a flow with access to all organizations',
      'server/src/http/api/x.route.ts',
      "import { x } from '../../flows/payins/end-payin.system.ts';",
    ],
    [
      "a merchants' flow that imports a flow with access to all organizations",
      'server/src/flows/payins/create-payins.ts',
      "import { x } from './end-payin.system.ts';",
    ],
    [
      'a merchant route that imports the system pool',
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
      'a simulator that imports the server',
      'simulator/src/app.ts',
      "import { x } from '../../server/src/kit/ids.ts';",
    ],
    ['an undeclared module', 'server/src/misc/x.ts', "import { x } from '../kit/ids.ts';"],
    ['an SDK with a dependency', 'sdk/src/client.ts', "import { x } from 'undici';"],
    ['an SDK that imports a Node module', 'sdk/src/client.ts', "import { x } from 'node:crypto';"],
    ['a CLI that imports the server', 'cli/src/run.ts', "import { x } from '../../server/src/deps.ts';"],
    [
      'a command tree that imports a program',
      'command-tree/src/build.ts',
      "import { x } from '../../cli/src/run.ts';",
    ],
    ['a command tree with another dependency', 'command-tree/src/build.ts', "import { x } from 'undici';"],
    ['a CLI with a dependency', 'cli/src/run.ts', "import { x } from 'commander';"],
    [
      'a server file that imports from outside server/src',
      'server/src/kit/ids.ts',
      "import { x } from '../../../simulator/src/app.ts';",
    ],
  ])('rejects %s', (_name, path, text) => {
    expect(messages(path, text)).toHaveLength(1);
  });

  it.each([
    [
      'a flow that imports two domains',
      'server/src/flows/payins/create-payins.ts',
      "import { a } from '../payins/payin.store.ts';\nimport { b } from '../organizations/organization.ts';",
    ],
    [
      'a domain that imports db and kit',
      'server/src/payins/payin.store.ts',
      "import { a } from '../db/tx.ts';\nimport { b } from '../kit/money.ts';",
    ],
    [
      'a rail that imports its contract',
      'server/src/rails/pse/connector.ts',
      "import type { a } from '../contract.ts';",
    ],
    ['a server file that imports a package', 'server/src/kit/money.ts', "import { z } from 'zod';"],
  ])('accepts %s', (_name, path, text) => {
    expect(messages(path, text)).toEqual([]);
  });
});

describe('the rule against import cycles', () => {
  const file = (name: string, imported: string) => ({
    path: `server/src/kit/${name}.ts`,
    text: `import type { X } from './${imported}.ts';`,
  });

  it('rejects a cycle of three files, type imports included', () => {
    expect(findViolations([file('a', 'b'), file('b', 'c'), file('c', 'a')])).toEqual([
      {
        path: 'server/src/kit/c.ts',
        line: 1,
        message: expect.stringMatching(/^import cycle: .*a\.ts → .*b\.ts → .*c\.ts → .*a\.ts$/),
      },
    ]);
  });

  it('accepts two files that import a third', () => {
    expect(
      findViolations([file('a', 'c'), file('b', 'c'), { path: 'server/src/kit/c.ts', text: '' }]),
    ).toEqual([]);
  });
});

describe('pattern rules', () => {
  it.each([
    [
      'a flow with access to all organizations without the suffix',
      'server/src/flows/payins/x.ts',
      'export function x(deps: SystemDeps): void {}',
    ],
    ['process.env outside config.ts', 'server/src/http/app.ts', 'const x = process.env.PORT;'],
    ['the process clock', 'server/src/flows/payins/create-payins.ts', 'const at = Date.now();'],
    ['randomness outside kit', 'server/src/payins/payin.ts', 'const id = randomUUID();'],
    [
      'float arithmetic on money',
      'server/src/payins/payin.view.ts',
      'const amount = (cents / 100).toFixed(2);',
    ],
    [
      'the OpenTelemetry SDK outside its module',
      'server/src/flows/payins/x.ts',
      "import { trace } from '@opentelemetry/api';",
    ],
    [
      'a static import of the module that loads the OpenTelemetry SDK',
      'server/src/serve.ts',
      "import { startTelemetry } from './tracing/telemetry.ts';",
    ],
    ['pg_notify in a migration', 'server/migrations/0001_x.sql', "select pg_notify('x', 'y');"],
    [
      'NOTIFY in a flow',
      'server/src/flows/payouts/create-payouts.ts',
      "await tx.query('notify caudal_work');",
    ],
  ])('rejects %s', (_name, path, text) => {
    expect(messages(path, text)).toHaveLength(1);
  });
});
