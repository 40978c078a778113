import type { RequestPlan } from '../load/load-plan.ts';

export interface LifePlan {
  readonly ports: readonly number[];
  readonly connections: number;
  readonly simulatorUrl: string;
  /** Where the receiver of webhooks says how many it has. */
  readonly sinkControl: string;
  readonly request: RequestPlan;
  /** Payins that have begun and of whose end nobody has been told. */
  readonly alive: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface LifeResult {
  /** Told of while it counted. */
  readonly lives: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly overTime: readonly number[];
  readonly generatorCpuSeconds: number;
}
