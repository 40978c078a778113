import type { RequestPlan } from '../load/load-plan.ts';

export interface LifePlan {
  readonly ports: readonly number[];
  readonly connections: number;
  readonly simulatorUrl: string;
  /** Control URL of the webhook receiver. */
  readonly sinkControl: string;
  readonly request: RequestPlan;
  /** Number of concurrently open payins, from creation to received webhook. */
  readonly alive: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface LifeResult {
  /** Payins whose webhook arrived during the measurement. */
  readonly lives: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly overTime: readonly number[];
  readonly generatorCpuSeconds: number;
}
