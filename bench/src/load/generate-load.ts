import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import type { Stage } from '../stage/stage.ts';
import type { LoadPlan } from './load-plan.ts';
import type { LoadResult } from './load-result.ts';

const GENERATOR = fileURLToPath(new URL('load-generator.ts', import.meta.url));

let runs = 0;

/** Generates load in a separate process: its CPU time is measured separately, and the bench does not disturb it. */
export async function generateLoad(
  { folder, ports }: Pick<Stage, 'folder' | 'ports'>,
  plan: Omit<LoadPlan, 'ports'>,
): Promise<LoadResult> {
  const file = join(folder, `load-${runs++}.json`);
  writeFileSync(file, JSON.stringify({ ...plan, ports }));
  const child = await startChild({ name: 'load generator', args: [GENERATOR, file], readiness: 'exit' });
  return JSON.parse(child.output()) as LoadResult;
}

/** For the details of a metric. */
export function generatorShare({ generatorCpuSeconds, seconds }: LoadResult): string {
  return `${((100 * generatorCpuSeconds) / seconds).toFixed(0)} % of a core`;
}
