import { z } from 'zod';
import type { RailCall } from '../rail-call.ts';
import { BULK_LIMIT } from '../wire.ts';
import { requireEntityCredentials } from './entity-access.ts';
import { bankUrl } from './transaction.store.ts';

const queryBody = z.object({ references: z.array(z.string().min(1).max(32)).min(1).max(BULK_LIMIT) });

const NOT_FOUND = {
  state: 'NOT_FOUND',
  transactionId: null,
  trazabilityCode: null,
  bankUrl: null,
  amount: null,
  reason: null,
};

/** A reference whose creation was rejected is NOT_FOUND: no transaction exists, and a repeat is validated again. */
export function queryTransactions(publicUrl: () => string): RailCall<z.infer<typeof queryBody>> {
  return {
    rail: 'PSE',
    operation: 'query',
    schema: queryBody,
    authenticate: requireEntityCredentials,
    answer: ({ state }, { references }, at) => {
      const results = references.map((reference) => {
        const found = state.transactions.byReference.get(reference);
        if (found === undefined) return { reference, ...NOT_FOUND };
        const { transactionId, trazabilityCode, amount, reason } = found;
        const url = bankUrl(publicUrl(), found);
        return {
          reference,
          state: found.state,
          transactionId,
          trazabilityCode,
          bankUrl: url,
          amount,
          reason,
        };
      });
      const journaled = results.map((result) => [result.reference, result.state] as const);
      return { body: { results }, entry: { at, kind: 'pse.query', results: journaled } };
    },
  };
}
