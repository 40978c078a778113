/** A part of a migration with its own transaction and its own record. */
export interface MigrationStep {
  readonly kind: StepKind;
  readonly text: string;
}

/**
 * - `transaction`: its statements commit together.
 * - `index`: one `create index` statement, built concurrently, partition by partition.
 * - `repeat`: one statement that changes a limited number of rows, repeated until it changes none.
 */
type StepKind = 'transaction' | 'index' | 'repeat';

const STEP = /^-- step(?:: (index|repeat))?$/;

/** Splits a migration at its `-- step` lines. @returns null for a migration without them: it is one transaction */
export function migrationSteps(name: string, text: string): readonly MigrationStep[] | null {
  const steps: { kind: StepKind; lines: string[] }[] = [];
  const before: string[] = [];
  for (const line of text.split('\n')) {
    const match = STEP.exec(line);
    if (match) steps.push({ kind: (match[1] as 'index' | 'repeat' | undefined) ?? 'transaction', lines: [] });
    else if (line.startsWith('-- step'))
      throw new Error(`migration ${name}: "${line}" is not "-- step", "-- step: index" or "-- step: repeat"`);
    else (steps.at(-1)?.lines ?? before).push(line);
  }
  if (steps.length === 0) return null;
  if (before.some((line) => line.trim() !== '' && !line.startsWith('--')))
    throw new Error(`migration ${name} has statements before its first "-- step"`);
  return steps.map(({ kind, lines }) => ({ kind, text: lines.join('\n').trim() }));
}

/** The parts of a `create index` statement. */
export interface IndexStatement {
  readonly unique: boolean;
  readonly name: string;
  readonly table: string;
  /** Method, columns and condition. */
  readonly definition: string;
}

const INDEX = /^create (unique )?index (\w+) on caudal\.(\w+) ([^;]+);?$/;

/** @throws when the step is not exactly one statement of the form `create index NAME on caudal.TABLE …` */
export function parseIndex(migration: string, text: string): IndexStatement {
  const statement = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const [, unique, name, table, definition] = INDEX.exec(statement) ?? [];
  if (name === undefined || table === undefined || definition === undefined)
    throw new Error(
      `migration ${migration}: a step "index" must be one statement "create index NAME on caudal.TABLE …"`,
    );
  return { unique: unique !== undefined, name, table, definition };
}
