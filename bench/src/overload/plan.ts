import { payinRequest, requestText } from '../load/load-plan.ts';

/** What the generator of the overload bench is to do: streams of arrivals side by side, in phases one after the other. */
export interface OverloadPlan {
  readonly ports: readonly number[];
  /** At most so many requests are on their way at once; later ones wait, and their waiting counts. */
  readonly connections: number;
  readonly phases: readonly Phase[];
  readonly streams: readonly Stream[];
}

interface Phase {
  readonly seconds: number;
  /** Arrivals a second of each stream, in the order of the streams. */
  readonly perSecond: readonly number[];
}

interface Stream {
  /** Of servers other than the plan's. */
  readonly ports?: readonly number[];
  /** Whole requests, in turn, each with `SERIAL` for the number of the arrival. */
  readonly requests: readonly string[];
}

/** What came of one stream in one phase. */
export interface StreamResult {
  readonly sent: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of answers below 300, in the order of arrival: when it was to be sent, from the phase's begin, and how long it took. */
  readonly done: readonly (readonly [atMs: number, tookMs: number])[];
  /** When a refusal came, from the phase's begin. */
  readonly refusedAtMs: readonly number[];
}

export interface OverloadResult {
  /** By phase, then by stream. */
  readonly phases: readonly (readonly StreamResult[])[];
  readonly generatorCpuSeconds: readonly number[];
}

/** Stands in a request for the number of its arrival, and is as long. */
export const SERIAL = '#########';

/** What the generator prints when a phase begins, and when the last has ended. */
export const PHASE_BEGINS = 'a phase begins';

export function creation(apiKey: string, run: string): string {
  return requestText(payinRequest([apiKey], run), apiKey, SERIAL);
}

export function page(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n`;
}
