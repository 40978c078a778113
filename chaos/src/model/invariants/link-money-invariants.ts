import type { Breach } from '../invariant-violation.ts';
import type { PayinRow } from '../snapshot.ts';
import type { View } from '../view.ts';
import { type StoredLink, storedLinks, sumOfParts } from './link-attempts.ts';

/** Invariants of the money of links, which hold at any time. */
export function linkMoneyBreaches(view: View): Breach[] {
  const known = new Set(view.links.map(({ id }) => id));
  return [
    ...storedLinks(view).flatMap((link) => [
      ...completionBreaches(link),
      ...partBreaches(view, link),
      ...accountBreaches(view, link),
    ]),
    ...view.snapshot.transfers
      .filter(({ kind, cause }) => kind === 'link_parts' && !known.has(cause))
      .map((transfer): Breach => ({ invariant: 'link_parts_credited_once', about: { transfer } })),
  ];
}

/**
 * A link is completed by the attempt with which the sum of its attempts reaches its amount. Later payments confirm their
 * attempts, but do not settle.
 */
function completionBreaches({ row, attempts }: StoredLink): Breach[] {
  const paying = attempts.filter(({ settlement }) => settlement !== null);
  const second = attempts.filter(({ status, settlement }) => status === 'CONFIRMED' && settlement === null);
  const [completing] = paying;
  const parts = sumOfParts(attempts);
  const sum = parts + BigInt(completing?.confirmed ?? 0);
  const valid =
    row.status === 'COMPLETED'
      ? paying.length === 1 && completing?.id === row.payin && sum === BigInt(row.cents)
      : row.payin === null && paying.length + second.length === 0 && sum < BigInt(row.cents);
  return valid && row.paid === String(sum)
    ? []
    : [{ invariant: 'link_completed_by_sum', about: { link: row, parts, paying, second } }];
}

/** The earlier parts move from suspense to the merchant once, with a payment that the rail listed when queried. */
function partBreaches(view: View, { row, attempts }: StoredLink): Breach[] {
  const parts = sumOfParts(attempts);
  const expected = row.status === 'COMPLETED' && parts > 0n ? 1 : 0;
  const transfers = view.snapshot.transfers.filter(
    ({ kind, cause }) => kind === 'link_parts' && cause === row.id,
  );
  const completing = attempts.find(({ id }) => id === row.payin);
  const valid =
    transfers.length === expected &&
    transfers.every(
      ({ debit, credit, cents, resource, organization }) =>
        debit === 'suspense' &&
        credit === 'pending' &&
        cents === String(parts) &&
        resource === row.payin &&
        organization === view.organizationId,
    ) &&
    BigInt(completing?.earlier_parts ?? 0) === (completing ? parts : 0n) &&
    (expected === 0 || isListed(view, completing));
  return valid
    ? []
    : [{ invariant: 'link_parts_credited_once', about: { link: row, parts, transfers, completing } }];
}

function isListed({ payins, facts }: View, completing: PayinRow | undefined): boolean {
  const payin = payins.find(({ id }) => id === completing?.id);
  const { executions, queried } = facts.of(payin?.railReference ?? '');
  return executions.some(
    ({ seq, executionId }) => executionId === completing?.execution && queried.some((query) => query > seq),
  );
}

/** Every payment for a link that is in the ledger counts toward its sum, or has an anomaly. */
function accountBreaches({ snapshot, payins, facts }: View, { row, attempts }: StoredLink): Breach[] {
  const posted = new Set(
    snapshot.transfers.filter(({ kind }) => kind === 'payment').map(({ cause }) => cause),
  );
  const references = new Set(
    payins.filter(({ linkId }) => linkId === row.id).map(({ railReference }) => railReference),
  );
  const executions = facts.executions.filter(
    ({ rail, executionId, reference }) => references.has(reference) && posted.has(`${rail}:${executionId}`),
  );
  const ids = new Set(attempts.map(({ id }) => id));
  // The parts of an expired link have anomalies too, and count toward its sum.
  const anomalies = snapshot.anomalies.filter(
    ({ payin, kind, cents }) => payin !== null && ids.has(payin) && cents !== null && kind !== 'underpaid',
  );
  const received = executions.reduce((sum, { cents }) => sum + cents, 0n);
  const accounted = anomalies.reduce((sum, { cents }) => sum + BigInt(cents ?? 0), BigInt(row.paid));
  return received === accounted
    ? []
    : [{ invariant: 'link_money_accounted', about: { link: row, executions, anomalies } }];
}
