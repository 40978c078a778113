/** Rules for migrations from 0017 on: the header, and no statement that blocks writes to a table in use. `npm run check` runs this. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../server/migrations/', import.meta.url));
const FIRST = '0017';

/** A line before a statement that may break a rule, for example on a table with one row. */
const ALLOWED = /^\s*-- blocking: \S/m;
const HEADER = /^-- schema: (?:expand|contract from \d{4})\n/;

interface Rule {
  readonly pattern: RegExp;
  readonly message: string;
  /** Kind of step in which it is allowed. */
  readonly step?: string;
  readonly onlyExpand?: boolean;
}

/** The first group is the table. */
const RULES: readonly Rule[] = [
  {
    pattern: /create (?:unique )?index\b.*? on (?:only )?caudal\.(\w+)/,
    message: 'builds an index under a lock: use "-- step: index"',
    step: 'index',
  },
  {
    pattern:
      /alter table (?:only )?caudal\.(\w+)(?!.*not valid).*\badd (?:constraint\b|primary key|unique|check|foreign key)/,
    message: 'checks every row under a lock: add it "not valid", and validate it in a later step',
  },
  {
    pattern:
      /alter table (?:only )?caudal\.(\w+).*\badd column\b.*\b(?:check|references|unique|primary key|stored|identity|serial|bigserial|clock_timestamp|gen_random_uuid|random|nextval)\b/,
    message: 'reads or rewrites every row under a lock: add a plain column, and the rest in later steps',
  },
  {
    pattern: /alter table (?:only )?caudal\.(\w+).*\balter (?:column )?\w+ (?:set data )?type\b/,
    message: 'rewrites the table: add another column',
  },
  {
    pattern: /alter table (?:only )?caudal\.(\w+).*\bset not null\b/,
    message: 'reads every row under a lock: validate a check first, and say so with "-- blocking: REASON"',
  },
  {
    pattern: /(?:^|\) )(?:update|delete from) (?:only )?caudal\.(\w+)/,
    message: 'changes rows in one transaction: use "-- step: repeat" with a limit',
    step: 'repeat',
  },
  {
    pattern:
      /(?:alter table (?:only )?caudal\.(?=.*\b(?:drop column|rename)\b)|drop table (?:if exists )?caudal\.)(\w+)/,
    message: 'removes what the previous release uses: the header must be "contract"',
    onlyExpand: true,
  },
  { pattern: /lock table (?:only )?caudal\.(\w+)/, message: 'locks a table explicitly' },
];

/** @param existing tables that earlier migrations created. @returns a sentence for each violation */
export function findMigrationViolations(name: string, text: string, existing: ReadonlySet<string>): string[] {
  if (name < FIRST) return [];
  if (!HEADER.test(text))
    return [`${name}: the first line must be "-- schema: expand" or "-- schema: contract from NNNN"`];
  const expand = text.startsWith('-- schema: expand');
  return text.split(/^(?=-- step)/m).flatMap((part) => {
    const [, step = 'transaction'] = /^-- step: (\w+)/.exec(part) ?? [];
    return statements(part).flatMap((statement) =>
      RULES.flatMap(({ pattern, message, step: allowedStep, onlyExpand }) => {
        const table = pattern.exec(statement)?.[1];
        const applies = table !== undefined && existing.has(table) && allowedStep !== step;
        return applies && (!onlyExpand || expand) ? [`${name}: "${statement.slice(0, 60)}" ${message}`] : [];
      }),
    );
  });
}

/** Statements without comments and function bodies, on one line and in lower case. */
function statements(text: string): string[] {
  return text
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(';')
    .filter((each) => !ALLOWED.test(each))
    .map((each) => each.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim().toLowerCase());
}

function createdTables(text: string): string[] {
  return [...text.matchAll(/create table (?:if not exists )?caudal\.(\w+)/g)].map(([, table = '']) => table);
}

function main(): void {
  const existing = new Set<string>();
  const violations: string[] = [];
  for (const name of readdirSync(FOLDER)
    .filter((each) => each.endsWith('.sql'))
    .sort()) {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    violations.push(...findMigrationViolations(name, text, existing));
    for (const table of createdTables(text)) existing.add(table);
  }
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

if (import.meta.main) main();
