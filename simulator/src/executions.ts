import type { Rail } from './operations.ts';
import { toCents } from './wire.ts';

/** An incoming payment on either rail. `reference` is the Bre-B key or the PSE reference. */
export type Execution = {
  readonly rail: Rail;
  readonly reference: string;
  readonly executionId: string;
  readonly amount: string;
  readonly at: string;
};

export type Executions = { readonly all: Execution[]; cents: bigint };

export function emptyExecutions(): Executions {
  return { all: [], cents: 0n };
}

export function addExecution(executions: Executions, execution: Execution): void {
  executions.all.push(execution);
  executions.cents += toCents(execution.amount);
}
