/**
 * Repository rules that no off-the-shelf linter checks: allowed imports between modules (ARCHITECTURE.md), and code
 * patterns that are forbidden because they can cost money. `npm run check` runs this.
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

/** Allowed imports: a module is a folder or file of server/src; it may import itself and the modules listed here. */
const ALLOWED_IMPORTS: Record<string, readonly string[]> = {
  kit: [],
  db: ['kit'],
  tracing: ['kit'],
  rails: ['kit'],
  ledger: ['kit', 'db'],
  jobs: ['kit', 'db'],
  events: ['kit', 'db'],
  webhooks: ['kit', 'db'],
  idempotency: ['kit', 'db'],
  customers: ['kit', 'db'],
  audit: ['kit', 'db'],
  'rail-notices': ['kit', 'db', 'rails/contract.ts'],
  receipts: ['kit', 'db', 'rails/contract.ts'],
  anomalies: ['kit', 'db', 'rails/contract.ts'],
  organizations: ['kit', 'db', 'rails/contract.ts'],
  payins: ['kit', 'db', 'customers', 'rails/contract.ts', 'rails/breb/emvco.ts'],
  payouts: ['kit', 'db', 'customers', 'rails/contract.ts'],
  'payment-links': ['kit', 'db', 'customers', 'rails/contract.ts'],
  people: ['kit', 'db', 'customers'],
  'deps.ts': ['kit', 'db', 'rails/contract.ts', 'organizations', 'receipts', 'jobs/work-signals.ts'],
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
    'receipts',
    'people',
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
    'receipts',
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
    'customers/customer.ts',
    'people/person.ts',
    'people/retention-policy.ts',
    'anomalies',
    'organizations',
    'receipts/receipt-keys.ts',
    'flows',
    'deps.ts',
    'settings',
    'config.ts',
    'compose.ts',
  ],
  settings: ['kit', 'receipts/key-settings.ts', 'receipts/receipt-keys.ts'],
  'config.ts': ['kit', 'receipts/key-settings.ts', 'settings'],
  'compose.ts': ['*'],
  'components.ts': ['*'],
  'readiness.ts': ['*'],
  'serve.ts': ['*'],
  'migrate-database.ts': ['*'],
  'main.ts': ['*'],
};

/** Merchant-facing modules must not access the system pool, which sees the rows of all organizations. */
const SYSTEM_POOL = 'db/system.ts';
const SYSTEM_POOL_USERS = [
  'db',
  'organizations',
  'workers',
  'operator',
  'http/ops',
  'http/rail-notices',
  'http/checkout',
  'http/verify',
  'jobs',
  'deps.ts',
  'compose.ts',
  'main.ts',
  'flows',
];

/** Flows with access to all organizations: the suffix makes the privilege visible, and merchants' code cannot import them. */
const SYSTEM_FLOW = /^flows\/.*\.system\.ts$/;

/** Only stores contain the SQL of their domain; http modules never import a store. */
const STORE = /\.store\.ts$/;

interface PatternRule {
  readonly pattern: RegExp;
  readonly allowedIn: RegExp;
  readonly message: string;
}

const PATTERN_RULES: readonly PatternRule[] = [
  {
    pattern: /from '@opentelemetry\//,
    allowedIn: /^server\/src\/tracing\//,
    message: 'only server/src/tracing uses the OpenTelemetry SDK; flows use kit/tracer.ts',
  },
  {
    pattern: /^import (?!type\b).*\/tracing\//,
    allowedIn: /^(?!server\/src\/)/,
    message:
      'load server/src/tracing with a dynamic import, so that the SDK is not loaded while tracing is off',
  },
  {
    pattern: /\bprocess\.env\b/,
    allowedIn:
      /^(server\/src\/config\.ts|cli\/src\/connection\/environment\.ts|simulator\/src\/(?:config|main)\.ts|scripts\/|deploy\/|bench\/|chaos\/|fuzz\/|server\/test\/|simulator\/test\/)/,
    message: 'read environment variables only in config.ts',
  },
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    allowedIn:
      /^(server\/src\/kit\/|sdk\/|cli\/|simulator\/|scripts\/|deploy\/|bench\/|chaos\/|fuzz\/|server\/test\/)/,
    message: 'take the time from the database or kit/clock.ts, never from the process clock',
  },
  {
    pattern: /\bMath\.random\(|\brandom(?:Bytes|UUID|FillSync|Int)\(/,
    allowedIn:
      /^(server\/src\/kit\/|sdk\/|cli\/|simulator\/|scripts\/|deploy\/|bench\/|chaos\/|fuzz\/|server\/test\/)/,
    message: 'take random values from kit',
  },
  {
    pattern: /\b(?:parseFloat|toFixed)\(/,
    allowedIn:
      /^(server\/src\/kit\/(?:money|metrics)\.ts|cli\/|simulator\/|scripts\/|deploy\/|bench\/|chaos\/|fuzz\/|server\/test\/)/,
    message: 'money is bigint cents: do not use float arithmetic',
  },
  {
    pattern: /\bSystem(?:Deps|Db)\b/,
    allowedIn: /^(?!server\/src\/flows\/)|\.system\.ts$/,
    message: 'a flow that accesses all organizations has a name that ends with .system.ts',
  },
  {
    pattern: /\bnotify\b\s+\w+|pg_notify/i,
    allowedIn: /^(docs\/|scripts\/|server\/src\/jobs\/work-notifications\.ts)/,
    message:
      'NOTIFY takes a database-wide lock at commit: raise a signal (jobs/work-signals.ts) after the commit',
  },
];

export function findViolations(files: readonly SourceFile[]): Violation[] {
  return [
    ...files.flatMap((file) => [...findImportViolations(file), ...findPatternViolations(file)]),
    ...findImportCycles(files),
  ];
}

/** Reports each cycle at the import that closes it. Type imports count: a cycle of types couples files just as much. */
function findImportCycles(files: readonly SourceFile[]): Violation[] {
  const imports = new Map(
    files.map(({ path, text }) => [
      path,
      parseImports(text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier, line }) => ({ target: resolvePath(path, specifier), line })),
    ]),
  );
  const found: Violation[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    for (const { target, line } of imports.get(path) ?? []) {
      const start = [...trail, path].indexOf(target);
      if (start >= 0) {
        const cycle = [...trail, path].slice(start).join(' → ');
        found.push({ path, line, message: `import cycle: ${cycle} → ${target}` });
      } else visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return found;
}

function findImportViolations(file: SourceFile): Violation[] {
  const found: Violation[] = [];
  for (const { specifier, line } of parseImports(file.text)) {
    const message = checkImport(file.path, specifier);
    if (message) found.push({ path: file.path, line, message });
  }
  return found;
}

function checkImport(path: string, specifier: string): string | null {
  if (['simulator/', 'chaos/', 'fuzz/'].some((folder) => path.startsWith(folder))) {
    return resolvesInto(path, specifier, 'server/') || specifier.startsWith('@caudal/server')
      ? `${path.split('/')[0]} must stay independent of the server and may not import from server/`
      : null;
  }
  if (path.startsWith('sdk/')) return checkSdkImport(path, specifier);
  if (path.startsWith('command-tree/')) return checkCommandTreeImport(path, specifier);
  if (path.startsWith('cli/')) return checkCliImport(path, specifier);
  if (!path.startsWith('server/src/')) return null;
  if (!specifier.startsWith('.')) return null;
  const target = resolvePath(path, specifier);
  if (!target.startsWith('server/src/')) return 'server/src may not import from outside itself';
  const from = path.slice('server/src/'.length);
  const to = target.slice('server/src/'.length);
  return (
    checkModuleImport(from, to) ??
    checkSystemPoolImport(from, to) ??
    checkSystemFlowImport(from, to) ??
    checkStoreImport(from, to) ??
    checkRailImport(from, to)
  );
}

/** The SDK runs on Node, Bun, Deno and Workers, and has no dependencies. */
function checkSdkImport(path: string, specifier: string): string | null {
  return resolvesInto(path, specifier, 'sdk/src/')
    ? null
    : 'the SDK may import only its own files: no packages and no Node modules';
}

/** Both programs use the command tree, so it depends on neither. */
function checkCommandTreeImport(path: string, specifier: string): string | null {
  const allowed =
    specifier.startsWith('node:') ||
    specifier === 'commander' ||
    resolvesInto(path, specifier, 'command-tree/src/');
  return allowed ? null : 'the command tree may import only its own files, Node modules and commander';
}

/** The CLI uses the public API like its users; from the server it knows only the names of operator commands. */
function checkCliImport(path: string, specifier: string): string | null {
  const allowed =
    specifier.startsWith('node:') ||
    ['@caudal/sdk', '@caudal/command-tree', '@caudal/server/operator-commands'].includes(specifier) ||
    resolvesInto(path, specifier, 'cli/src/') ||
    resolvesInto(path, specifier, 'cli/package.json');
  return allowed ? null : 'the CLI may import only its own files, Node modules, the SDK and the command tree';
}

function checkModuleImport(from: string, to: string): string | null {
  const module = from.split('/')[0] ?? '';
  const imported = to.split('/')[0] ?? '';
  if (module === imported) return null;
  const allowed = ALLOWED_IMPORTS[module];
  if (!allowed)
    return `server/src/${module} is a new module: add its allowed imports to scripts/architecture-rules.ts`;
  if (allowed.includes('*') || allowed.includes(imported) || allowed.includes(to)) return null;
  return `${module} may not import ${to} (it may import: ${allowed.join(', ') || 'nothing'})`;
}

function checkSystemPoolImport(from: string, to: string): string | null {
  if (to !== SYSTEM_POOL) return null;
  if (SYSTEM_POOL_USERS.some((module) => from === module || from.startsWith(`${module}/`))) return null;
  return 'merchant routes may not import the system pool';
}

function checkSystemFlowImport(from: string, to: string): string | null {
  if (!SYSTEM_FLOW.test(to)) return null;
  const forMerchants = from.startsWith('http/api/') || (from.startsWith('flows/') && !SYSTEM_FLOW.test(from));
  return forMerchants ? `${to} accesses all organizations: merchants' code may not import it` : null;
}

function checkStoreImport(from: string, to: string): string | null {
  if (!STORE.test(to)) return null;
  if (from.startsWith('http/')) return 'http may not import a store: call a flow';
  return null;
}

function checkRailImport(from: string, to: string): string | null {
  const [module, rail] = from.split('/');
  const [importedModule, importedRail] = to.split('/');
  if (module !== 'rails' || importedModule !== 'rails' || importedRail === 'contract.ts') return null;
  if (rail === importedRail) return null;
  return `rails/${rail} may import its contract and kit, not rails/${importedRail}`;
}

function resolvesInto(path: string, specifier: string, folder: string): boolean {
  return specifier.startsWith('.') && resolvePath(path, specifier).startsWith(folder);
}

function resolvePath(path: string, specifier: string): string {
  return normalize(join(dirname(path), specifier))
    .split(sep)
    .join('/');
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

function parseImports(text: string): { specifier: string; line: number }[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
    line: text.slice(0, match.index + match[0].length).split('\n').length,
  }));
}

function findPatternViolations(file: SourceFile): Violation[] {
  const found: Violation[] = [];
  for (const [index, text] of file.text.split('\n').entries()) {
    if (/^\s*(?:\/\/|\*|\/\*|--)/.test(text)) continue;
    for (const rule of PATTERN_RULES) {
      if (rule.pattern.test(text) && !rule.allowedIn.test(file.path)) {
        found.push({ path: file.path, line: index + 1, message: rule.message });
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
    'command-tree/src',
    'cli/src',
    'bench/src',
    'chaos/src',
    'fuzz/src',
    'deploy',
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
  const violations = findViolations(sourceFiles(root));
  for (const { path, line, message } of violations) console.error(`${path}:${line}: ${message}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
