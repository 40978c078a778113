/**
 * The rules of the repository that no off-the-shelf linter knows: who may import whom (ARCHITECTURE.md), and a few
 * traps that cost money. `npm run check` runs this; house-rules.test.ts plants offenders and sees them refused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SourceFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A room is a folder (or single file) of server/src; it may import its own files and the rooms listed here. */
const ROOMS: Record<string, readonly string[]> = {
  kit: [],
  db: ['kit'],
  rails: ['kit'],
  ledger: ['kit', 'db'],
  jobs: ['kit', 'db'],
  events: ['kit', 'db'],
  webhooks: ['kit', 'db'],
  idempotency: ['kit', 'db'],
  customers: ['kit', 'db'],
  audit: ['kit', 'db'],
  'rail-notices': ['kit', 'db', 'rails/contract.ts'],
  anomalies: ['kit', 'db', 'rails/contract.ts'],
  organizations: ['kit', 'db', 'rails/contract.ts'],
  payins: ['kit', 'db', 'customers', 'rails/contract.ts', 'rails/breb/emvco.ts'],
  payouts: ['kit', 'db', 'customers', 'rails/contract.ts'],
  'payment-links': ['kit', 'db', 'customers', 'rails/contract.ts'],
  'deps.ts': ['kit', 'db', 'rails/contract.ts', 'organizations', 'jobs/work-signals.ts'],
  flows: [
    'kit',
    'db',
    'rails/contract.ts',
    'idempotency',
    'customers',
    'audit',
    'rail-notices',
    'anomalies',
    'ledger',
    'jobs',
    'events',
    'webhooks',
    'organizations',
    'payins',
    'payouts',
    'payment-links',
    'deps.ts',
  ],
  workers: ['kit', 'db', 'rails/contract.ts', 'jobs', 'organizations', 'flows', 'deps.ts'],
  http: [
    'kit',
    'events',
    'webhooks',
    'customers',
    'anomalies',
    'rails/contract.ts',
    'rails/pse/banks.ts',
    'organizations',
    'ledger',
    'payins',
    'payouts',
    'payment-links',
    'flows',
    'deps.ts',
  ],
  operator: [
    'kit',
    'db',
    'rails/contract.ts',
    'rails/with-failpoints.ts',
    'payouts/receiver-key.ts',
    'audit/operator-action.ts',
    'anomalies',
    'organizations',
    'flows',
    'deps.ts',
    'config.ts',
    'compose.ts',
  ],
  'config.ts': ['kit'],
  'compose.ts': ['*'],
  'readiness.ts': ['*'],
  'serve.ts': ['*'],
  'main.ts': ['*'],
};

/** Rooms of the merchant's side must not get hold of the pool that row-level security lets through. */
const SYSTEM_POOL = 'db/system.ts';
const MAY_HOLD_SYSTEM = [
  'db',
  'organizations',
  'workers',
  'operator',
  'http/ops',
  'http/rail-notices',
  'http/checkout',
  'jobs',
  'deps.ts',
  'compose.ts',
  'main.ts',
  'flows',
];

/** Only the store of a domain holds SQL of that domain; http never sees a store. */
const STORE = /\.store\.ts$/;

interface Trap {
  readonly pattern: RegExp;
  readonly allowedIn: RegExp;
  readonly message: string;
}

const TRAPS: readonly Trap[] = [
  {
    pattern: /\bprocess\.env\b/,
    allowedIn:
      /^(server\/src\/config\.ts|cli\/src\/environment\.ts|simulator\/src\/(?:config|main)\.ts|scripts\/|bench\/|chaos\/|server\/test\/|simulator\/test\/)/,
    message: 'the environment is read in config.ts alone',
  },
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    allowedIn: /^(server\/src\/kit\/|sdk\/|cli\/|simulator\/|scripts\/|bench\/|chaos\/|server\/test\/)/,
    message: 'the time comes from the database or kit/clock.ts, never from the process',
  },
  {
    pattern: /\bMath\.random\(|\brandom(?:Bytes|UUID|FillSync|Int)\(/,
    allowedIn: /^(server\/src\/kit\/|sdk\/|cli\/|simulator\/|scripts\/|bench\/|chaos\/|server\/test\/)/,
    message: 'randomness comes from kit',
  },
  {
    pattern: /\b(?:parseFloat|toFixed)\(/,
    allowedIn:
      /^(server\/src\/kit\/(?:money|metrics)\.ts|cli\/|simulator\/|scripts\/|bench\/|chaos\/|server\/test\/)/,
    message: 'money is bigint cents; no float arithmetic',
  },
  {
    pattern: /\bnotify\b\s+\w+|pg_notify/i,
    allowedIn: /^(docs\/|scripts\/|server\/src\/jobs\/work-notifications\.ts)/,
    message:
      'NOTIFY takes a database-wide lock at commit: raise a signal (jobs/work-signals.ts) after the commit',
  },
];

export function violationsOf(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => [...importViolations(file), ...trapViolations(file)]);
}

function importViolations(file: SourceFile): Violation[] {
  const found: Violation[] = [];
  for (const { specifier, line } of importsOf(file.text)) {
    const message = importFault(file.path, specifier);
    if (message) found.push({ path: file.path, line, message });
  }
  return found;
}

function importFault(path: string, specifier: string): string | null {
  if (path.startsWith('simulator/') || path.startsWith('chaos/')) {
    return resolvesInto(path, specifier, 'server/') || specifier.startsWith('@caudal/server')
      ? `${path.split('/')[0]} is an independent witness and imports nothing from server/`
      : null;
  }
  if (path.startsWith('sdk/')) return sdkFault(path, specifier);
  if (path.startsWith('cli/')) return cliFault(path, specifier);
  if (!path.startsWith('server/src/')) return null;
  if (!specifier.startsWith('.')) return null;
  const target = normalize(join(dirname(path), specifier))
    .split(sep)
    .join('/');
  if (!target.startsWith('server/src/')) return 'server/src imports nothing from outside itself';
  const from = path.slice('server/src/'.length);
  const to = target.slice('server/src/'.length);
  return roomFault(from, to) ?? systemFault(from, to) ?? storeFault(from, to) ?? railFault(from, to);
}

/** It runs on Node, Bun, Deno and workers, and whoever installs it installs nothing else. */
function sdkFault(path: string, specifier: string): string | null {
  return resolvesInto(path, specifier, 'sdk/src/')
    ? null
    : 'the SDK imports nothing but itself: no package, nothing of Node';
}

/** It goes through the API as its users do; what operators' commands are called is all it knows of the server. */
function cliFault(path: string, specifier: string): string | null {
  const allowed =
    specifier.startsWith('node:') ||
    ['@caudal/sdk', '@caudal/server/operator-commands'].includes(specifier) ||
    resolvesInto(path, specifier, 'cli/src/');
  return allowed ? null : 'the command line imports itself, Node and the SDK';
}

function roomFault(from: string, to: string): string | null {
  const room = from.split('/')[0] ?? '';
  const other = to.split('/')[0] ?? '';
  if (room === other) return null;
  const allowed = ROOMS[room];
  if (!allowed) return `server/src/${room} is a room that scripts/architecture-rules.ts does not know`;
  if (allowed.includes('*') || allowed.includes(other) || allowed.includes(to)) return null;
  return `${room} may not import ${to} (it may import: ${allowed.join(', ') || 'nothing'})`;
}

function systemFault(from: string, to: string): string | null {
  if (to !== SYSTEM_POOL) return null;
  if (MAY_HOLD_SYSTEM.some((room) => from === room || from.startsWith(`${room}/`))) return null;
  return 'merchant routes cannot obtain the system pool';
}

function storeFault(from: string, to: string): string | null {
  if (!STORE.test(to)) return null;
  if (from.startsWith('http/')) return 'http goes through a flow, never to a store';
  return null;
}

function railFault(from: string, to: string): string | null {
  const [room, rail] = from.split('/');
  const [otherRoom, otherRail] = to.split('/');
  if (room !== 'rails' || otherRoom !== 'rails' || otherRail === 'contract.ts') return null;
  if (rail === otherRail) return null;
  return `rails/${rail} sees its contract and kit, not rails/${otherRail}`;
}

function resolvesInto(path: string, specifier: string, folder: string): boolean {
  if (!specifier.startsWith('.')) return false;
  return normalize(join(dirname(path), specifier))
    .split(sep)
    .join('/')
    .startsWith(folder);
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

function importsOf(text: string): { specifier: string; line: number }[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
    line: text.slice(0, match.index + match[0].length).split('\n').length,
  }));
}

function trapViolations(file: SourceFile): Violation[] {
  const found: Violation[] = [];
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(?:\/\/|\*|\/\*|--)/.test(text)) continue;
    for (const trap of TRAPS) {
      if (trap.pattern.test(text) && !trap.allowedIn.test(file.path)) {
        found.push({ path: file.path, line: index + 1, message: trap.message });
      }
    }
  }
  return found;
}

function sourceFiles(root: string): SourceFile[] {
  const folders = [
    'server/src',
    'server/migrations',
    'simulator/src',
    'sdk/src',
    'cli/src',
    'bench/src',
    'chaos/src',
  ];
  return folders.flatMap((folder) => {
    const entries = readdirSync(join(root, folder), {
      recursive: true,
      withFileTypes: true,
      encoding: 'utf8',
    });
    return entries
      .filter((entry) => entry.isFile() && /\.(?:ts|tsx|sql)$/.test(entry.name))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return { path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') };
      });
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const violations = violationsOf(sourceFiles(root));
  for (const { path, line, message } of violations) console.error(`${path}:${line}: ${message}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
