import type { Client } from 'pg';

/** The result of a statement, which was rolled back. */
export interface ProbeResult {
  readonly sql: string;
  /** `done`, or the SQLSTATE of the rejection. */
  readonly state: string;
  readonly message: string;
  /** Rows returned or affected. */
  readonly rows: number;
}

const CHUNK = 500;

// Executed by the server in one round trip, because thousands of round trips take half a minute on a busy machine. The
// exception rolls each statement back.
const RUN = `do $$
declare
  sql text;
  affected bigint;
  results text[] := '{}';
begin
  for sql in select value from jsonb_array_elements_text(current_setting('probe.statements')::jsonb) loop
    begin
      execute sql;
      get diagnostics affected = row_count;
      raise exception '%', affected using errcode = 'PD000';
    exception when others then
      results := results || array[sqlstate, sqlerrm];
    end;
  end loop;
  perform set_config('probe.results', to_json(results)::text, false);
end $$`;

/**
 * Executes each statement with the rights of the client's role and rolls it back.
 * @param settings statements that precede them in the same transaction
 */
export async function executeAll(
  client: Client,
  statements: readonly string[],
  settings = '',
): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (let from = 0; from < statements.length; from += CHUNK) {
    const chunk = statements.slice(from, from + CHUNK);
    await client.query("select set_config('probe.statements', $1, false)", [JSON.stringify(chunk)]);
    await client.query(`begin; ${settings}; ${RUN}; commit`);
    const { rows } = await client.query<{ results: string }>(
      "select current_setting('probe.results') as results",
    );
    const answers = JSON.parse(rows[0]?.results ?? '[]') as string[];
    for (const [index, sql] of chunk.entries()) {
      const [code = '', message = ''] = answers.slice(2 * index, 2 * index + 2);
      const done = code === 'PD000';
      results.push({ sql, state: done ? 'done' : code, message, rows: done ? Number(message) : 0 });
    }
  }
  return results;
}
