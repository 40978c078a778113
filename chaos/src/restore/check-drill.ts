import { print } from '../run/outcome.ts';
import { withClient } from './backed-up-cluster.ts';
import type { Acknowledged } from './drill-load.ts';

interface DrillFacts {
  readonly databaseUrl: string;
  readonly simulatorUrl: string;
  /** The second to which the database was restored. */
  readonly chosen: Date;
  /** Acknowledged before the disaster, and after it. */
  readonly before: readonly Acknowledged[];
  readonly after: readonly Acknowledged[];
  /** Lost payouts that their merchant repeated, and the payouts of the repeats. */
  readonly lost: readonly Acknowledged[];
  readonly repeated: readonly (string | null)[];
}

interface Execution {
  readonly endToEndId: string;
  readonly internalId: string;
  readonly executionId: string;
  readonly amount: string;
}

interface PayoutRow {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
  readonly execution_id: string | null;
  readonly attempts: number;
}

/** A commit just before the chosen second may be acknowledged just after it, and the other way round. */
const EDGE_MS = 1000;

/** Compares the restored database with the rail's own journal and with what was acknowledged to merchants. */
export async function checkDrill(facts: DrillFacts): Promise<string[]> {
  const read = async <T>(path: string) => (await (await fetch(`${facts.simulatorUrl}${path}`)).json()) as T;
  const executions = await read<Execution[]>('/control/executions');
  const payments = await read<{ executionId: string }[]>('/control/payments');
  return withClient(facts.databaseUrl, async (client) => {
    const query = async <Row extends object>(text: string) => (await client.query<Row>(text)).rows;
    const payouts = await query<PayoutRow>(
      'select id, reference, status, execution_id, attempts from caudal.payouts',
    );
    const payins = await query<{ id: string }>('select id from caudal.payins');
    const listed = await query<{ end_to_end_id: string }>('select end_to_end_id from caudal.restored_orders');
    const booked = await query<{ cause_id: string }>(
      "select cause_id from caudal.ledger_transfers where cause_kind in ('payment', 'execution')",
    );
    const report = [
      `${executions.length} payouts executed by the rail, ${payments.length} payments received`,
      `${listed.length} orders known only to the rail, ${facts.repeated.length} of them repeated by the merchant`,
    ];
    for (const line of report) print(line);
    return [
      ...executedTwice(executions),
      ...lostBefore(facts, new Set([...payouts, ...payins].map(({ id }) => id))),
      ...unaccounted(executions, payouts, new Set(listed.map((row) => row.end_to_end_id))),
      ...unbooked(executions, payments, payouts, new Set(booked.map((row) => row.cause_id))),
      ...sentRepeats(facts, executions, payouts),
      ...unfinished(facts, payouts),
    ];
  });
}

/** The load gives each payout its own amount, so two executions of one amount are one payment made twice. */
function executedTwice(executions: readonly Execution[]): string[] {
  return [...Map.groupBy(executions, ({ amount }) => amount)]
    .filter(([, all]) => all.length > 1)
    .map(([amount, all]) => `a payout of ${amount} was executed ${all.length} times`);
}

function lostBefore({ before, chosen }: DrillFacts, ids: ReadonlySet<string>): string[] {
  return before
    .filter(({ at, id }) => at.getTime() < chosen.getTime() - EDGE_MS && !ids.has(id))
    .map(({ kind, id }) => `${kind} ${id}, acknowledged before the chosen second, is lost`);
}

/** Each execution belongs to a payout of the database, or is listed. */
function unaccounted(
  executions: readonly Execution[],
  payouts: readonly PayoutRow[],
  listed: ReadonlySet<string>,
): string[] {
  const confirmed = new Set(payouts.flatMap(({ execution_id }) => execution_id ?? []));
  return executions
    .filter(({ executionId, endToEndId }) => !confirmed.has(executionId) && !listed.has(endToEndId))
    .map(({ endToEndId }) => `execution of ${endToEndId} is neither booked nor listed`);
}

function unbooked(
  executions: readonly Execution[],
  payments: readonly { readonly executionId: string }[],
  payouts: readonly PayoutRow[],
  booked: ReadonlySet<string>,
): string[] {
  const confirmed = new Set(payouts.flatMap(({ execution_id }) => execution_id ?? []));
  return [
    ...payments
      .filter(({ executionId }) => !booked.has(`BRE_B:${executionId}`))
      .map(({ executionId }) => `payment ${executionId} is not in the ledger`),
    ...executions
      .filter(({ executionId }) => !confirmed.has(executionId) && !booked.has(`BRE_B:${executionId}`))
      .map(({ executionId }) => `execution ${executionId} is not in the ledger`),
  ];
}

/** A repeated payout of which the rail has executed the first one waits for a person; the others are sent. */
function sentRepeats(
  { lost, repeated }: DrillFacts,
  executions: readonly Execution[],
  payouts: readonly PayoutRow[],
): string[] {
  const executed = new Set(executions.map(({ internalId }) => internalId));
  const repeats = new Set(repeated.filter((_, index) => executed.has(lost[index]?.id ?? '')));
  return payouts
    .filter(({ id, attempts }) => repeats.has(id) && attempts > 0)
    .map(({ id }) => `payout ${id}, which repeats an executed one, was sent`);
}

function unfinished({ after }: DrillFacts, payouts: readonly PayoutRow[]): string[] {
  const status = new Map(payouts.map((payout) => [payout.id, payout.status]));
  return after
    .filter(({ kind, id }) => kind === 'payout' && status.get(id) !== 'CONFIRMED')
    .map(({ id }) => `payout ${id}, created after the restore, is ${status.get(id) ?? 'missing'}`);
}
