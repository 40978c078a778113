import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import type { Stage } from '../stage/stage.ts';
import { type OverloadPlan, type OverloadResult, PHASE_STARTS } from './plan.ts';

const GENERATOR = fileURLToPath(new URL('generator.ts', import.meta.url));
/** More than the server processes concurrently, so that arrivals do not wait for a connection. */
const CONNECTIONS = 1500;

let runs = 0;

/** Runs the generator in a separate process, so that its CPU time is measured separately. */
export async function runOverload(
  stage: Stage,
  plan: Omit<OverloadPlan, 'ports' | 'connections'> & { readonly connections?: number },
): Promise<OverloadResult & { readonly serverCpuSeconds: readonly number[] }> {
  const file = join(stage.folder, `overload-${runs++}.json`);
  writeFileSync(file, JSON.stringify({ connections: CONNECTIONS, ...plan, ports: stage.ports }));
  const spent: number[] = [];
  await startChild({
    name: 'overload generator',
    args: [GENERATOR, file],
    readiness: 'exit',
    withinMs: 300_000,
    onLine: (line) => {
      if (line === PHASE_STARTS) spent.push(serverSeconds(stage));
    },
  });
  return {
    ...(JSON.parse(readFileSync(`${file}.result`, 'utf8')) as OverloadResult),
    serverCpuSeconds: plan.phases.map((_, phase) => (spent[phase + 1] ?? Number.NaN) - (spent[phase] ?? 0)),
  };
}

/** CPU time of the API and the database so far. */
export function serverSeconds(stage: Stage): number {
  const { api, postgres } = stage.spent();
  return api + postgres;
}
