import type { SystemDeps } from '../deps.ts';
import { listRestoredOrders, resolveRestoredOrder } from '../flows/payouts/resolve-restored-order.system.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { type Options, type Output, UsageError } from './options.ts';

const LIMIT = 1000;

export async function restoredOrdersList(deps: SystemDeps): Promise<Output> {
  const orders = await listRestoredOrders(deps, LIMIT);
  const lines = orders.flatMap(
    ({ endToEndId, organizationId, amount, railStatus, orderedAt, heldPayouts }) => [
      `${endToEndId}  ${organizationId}  COP ${decimalPesos(amount)}  ${railStatus}  ordered ${orderedAt.toISOString()}`,
      ...heldPayouts.map((id) => `  holds payout ${id}`),
    ],
  );
  return {
    json: orders.map(
      ({ endToEndId, organizationId, amount, railStatus, executionId, orderedAt, heldPayouts }) => ({
        endToEndId,
        organizationId,
        amountInCents: Number(amount),
        railStatus,
        executionId,
        orderedAt,
        heldPayouts,
      }),
    ),
    text: lines.join('\n') || 'No order is known only to the rail.',
  };
}

export async function restoredOrdersResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const [id = ''] = options.args;
  if (!isUuid(id)) throw new UsageError('PAYOUT must be the id of a held payout (see restored list)');
  const as = options.required('as');
  if (as !== 'repeat' && as !== 'new') throw new UsageError('--as must be repeat or new');
  const decision = { as, operator: options.by, note: options.required('note') } as const;
  const outcome = await resolveRestoredOrder(deps, id, decision);
  switch (outcome.kind) {
    case 'released':
      return { json: { id, as }, text: `Payout ${id} is another payment and will be sent.` };
    case 'canceled':
      return {
        json: { id, as, endToEndId: outcome.endToEndId },
        text: `Payout ${id} is canceled, and order ${outcome.endToEndId}, which the rail executed, is charged to its organization. Tell the merchant that the money was sent.`,
      };
    case 'not_found':
      throw new Error('there is no such payout');
    case 'not_held':
      throw new Error('no restored order holds this payout (see restored list)');
    case 'not_executed':
      throw new Error(
        `the execution of order ${outcome.endToEndId} is not booked yet: run rails reconcile-after-restore again, then repeat this command`,
      );
  }
}
