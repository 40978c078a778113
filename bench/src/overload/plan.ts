import { payinRequest, requestText } from '../load/load-plan.ts';

/** Instructions for the overload generator: concurrent streams of arrivals in consecutive phases. */
export interface OverloadPlan {
  readonly ports: readonly number[];
  /** Maximum concurrent requests; later ones wait, and their wait counts as latency. */
  readonly connections: number;
  readonly phases: readonly Phase[];
  readonly streams: readonly Stream[];
}

interface Phase {
  readonly seconds: number;
  /** Arrivals per second of each stream, in the order of the streams. */
  readonly perSecond: readonly number[];
}

interface Stream {
  /** Ports of other servers; default: those of the plan. */
  readonly ports?: readonly number[];
  /** Complete requests, used round-robin; `SERIAL` is replaced by the number of the arrival. */
  readonly requests: readonly string[];
}

/** Result of one stream in one phase. */
export interface StreamResult {
  readonly sent: number;
  /** Responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses with a status below 300: intended send time since the start of the phase, and latency. */
  readonly done: readonly (readonly [atMs: number, tookMs: number])[];
  /** Times of rejections since the start of the phase. */
  readonly rejectedAtMs: readonly number[];
}

export interface OverloadResult {
  /** By phase, then by stream. */
  readonly phases: readonly (readonly StreamResult[])[];
  readonly generatorCpuSeconds: readonly number[];
}

/** Placeholder for the number of an arrival, with the same length. */
export const SERIAL = '#########';

/** The generator prints this line when a phase starts and when the last phase has ended. */
export const PHASE_STARTS = 'phase_started';

export function creation(apiKey: string, run: string): string {
  return requestText(payinRequest([apiKey], run), apiKey, SERIAL);
}

export function page(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n`;
}
