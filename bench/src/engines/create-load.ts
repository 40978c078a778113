import { randomUUID } from 'node:crypto';
import { type LoadResult, Tally } from '../load/load-result.ts';
import { type Engine, SET_SIZE } from './engine.ts';

const CALLERS = 64;
const SET_CALLERS = 16;

interface CreateLoad {
  readonly inSets: boolean;
  readonly seconds: number;
  /** Creation ends early after this number of items. */
  readonly limit?: number;
}

/** Closed model: each caller waits for the acknowledgment of its creation before the next one. */
export async function createLoad(
  engine: Engine,
  { inSets, seconds, limit = Number.POSITIVE_INFINITY }: CreateLoad,
): Promise<{ readonly ids: readonly string[]; readonly result: LoadResult }> {
  const ids: string[] = [];
  const tally = new Tally();
  tally.start();
  const endAt = performance.now() + seconds * 1000;
  const size = inSets ? SET_SIZE : 1;
  let started = 0;
  const call = async () => {
    while (performance.now() < endAt && started < limit) {
      started += size;
      const created = Array.from({ length: size }, () => randomUUID() as string);
      const sentAt = performance.now();
      await (inSets ? engine.createSet(created) : engine.create(created[0] ?? ''));
      tally.add(performance.now() - sentAt, true);
      ids.push(...created);
    }
  };
  await Promise.all(Array.from({ length: inSets ? SET_CALLERS : CALLERS }, call));
  return { ids, result: tally.end() };
}
