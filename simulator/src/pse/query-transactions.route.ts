import { z } from 'zod';
import type { RailCall } from '../rail-call.ts';
import { BULK_LIMIT } from '../wire.ts';
import { refuseUnknownEntity } from './entity-access.ts';
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

/** A reference whose creation was refused is NOT_FOUND: no transaction was made, and asking again is refused again. */
export function queryTransactions(publicUrl: () => string): RailCall<z.infer<typeof queryBody>> {
  return {
    rail: 'PSE',
    operation: 'query',
    schema: queryBody,
    refuse: refuseUnknownEntity,
    answer: ({ state }, { references }, at) => {
      const results = references.map((reference) => {
        const known = state.transactions.byReference.get(reference);
        if (known === undefined) return { reference, ...NOT_FOUND };
        const { transactionId, trazabilityCode, amount, reason } = known;
        const url = bankUrl(publicUrl(), known);
        return {
          reference,
          state: known.state,
          transactionId,
          trazabilityCode,
          bankUrl: url,
          amount,
          reason,
        };
      });
      const told = results.map((result) => [result.reference, result.state] as const);
      return { body: { results }, entry: { at, kind: 'pse.query', results: told } };
    },
  };
}
