import type { Operation, Rail } from './operations.ts';

/** The header `traceparent` of a rail call. */
export type ReceivedTraceparent = {
  readonly rail: Rail;
  readonly operation: Operation;
  readonly traceparent: string;
};
