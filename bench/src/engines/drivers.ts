import type { EngineDriver } from './engine.ts';

/** Loaded on demand, so that the process of one engine contains no other engine. */
export const DRIVERS: Readonly<Record<string, () => Promise<EngineDriver>>> = {
  baseline: async () => (await import('./baseline.ts')).baseline,
  Caudal: async () => (await import('./caudal.ts')).caudal,
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'graphile-worker': async () => (await import('./graphile-worker.ts')).graphileWorker,
  DBOS: async () => (await import('./dbos.ts')).dbos,
};
