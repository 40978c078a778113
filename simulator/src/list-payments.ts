import type { Operation, Rail } from './operations.ts';
import { pageSince, type SinceBody, sinceBody } from './page-since.ts';
import type { RailCall } from './rail-call.ts';

/** Lists the payments that a rail received since a time. */
export function listPayments(
  rail: Rail,
  operation: Operation,
  authenticate: RailCall<SinceBody>['authenticate'],
): RailCall<SinceBody> {
  return {
    rail,
    operation,
    schema: sinceBody,
    authenticate,
    answer: ({ state }, body, at) => {
      const page = pageSince(state.executions.all, body, (payment) => [
        payment.rail === rail ? payment.at : null,
      ]);
      const results = page.items.map(({ reference, executionId, amount, at: paidAt }) => ({
        reference,
        executionId,
        amount,
        at: paidAt,
      }));
      const entry = { at, kind: 'rail.list', rail, operation, since: body.since } as const;
      return { body: { results, next: page.next }, entry: { ...entry, count: results.length } };
    },
  };
}
