import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from '../clients/client-journal.ts';
import type { PayoutClient, PayoutRequest } from '../clients/payout-client.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { toRailReference } from './payer.ts';
import { LISTINGS, type PayoutPlan, person } from './payout-plan.ts';

/** A funded organization that sends payouts. */
export interface Payer {
  readonly organizationId: string;
  readonly apiKey: string;
  /** The organization number in the end-to-end ids of its orders. */
  readonly number: number;
}

interface PayoutLoadParts {
  readonly client: PayoutClient;
  readonly rails: RailControl;
  readonly payers: readonly [Payer, ...Payer[]];
  /** False: a request that fails is not sent again. Default: it is retried until the response is conclusive. */
  readonly retriesFailures?: boolean;
  /** Called when the API acknowledged the payout. */
  readonly onCreated?: (payoutId: string, plan: PayoutPlan) => void;
}

/** Executes payout plans: merchants look up, pay, repeat and cancel, and the network sometimes reverses its decision. */
export class PayoutLoad {
  readonly answers = new Map<string, number>();
  readonly cancels = new Map<string, number>();
  readonly #parts: PayoutLoadParts;

  constructor(parts: PayoutLoadParts) {
    this.#parts = parts;
  }

  async execute(plan: PayoutPlan): Promise<void> {
    const request = await this.#prepare(plan);
    const answer = await this.#create(plan, request);
    count(this.answers, answer === null ? 'unanswered' : `${answer.status} ${answer.code ?? ''}`.trim());
    if (!answer?.payout) return;
    const { id } = answer.payout;
    this.#parts.onCreated?.(id, plan);
    await Promise.all([this.#cancel(plan, id), this.#end(plan, id), this.#repeat(plan, request)]);
  }

  async #prepare(plan: PayoutPlan): Promise<PayoutRequest> {
    const { client, rails } = this.#parts;
    const organization = this.#findPayer(plan);
    const { key, name } = plan;
    if (plan.receiver === 'changing') await retry(() => rails.list({ key, person: person(1) }));
    const lookupId = plan.lookedUp ? await client.lookUp(organization, key) : null;
    // The lookup shows one person; the key belongs to another when the order arrives.
    if (plan.receiver === 'changing') await retry(() => rails.list({ key, person: person(2) }));
    return {
      organization,
      idempotencyKey: plan.idempotent ? `payout-key-${name}` : null,
      reference: `payout-${name}`,
      amountInCents: plan.amountInCents,
      key,
      lookupId,
    };
  }

  async #create({ sendMode }: PayoutPlan, request: PayoutRequest) {
    const { client, retriesFailures = true } = this.#parts;
    if (!retriesFailures) return client.send(request);
    if (sendMode !== 'concurrently') return client.sendUntilAnswered(request);
    const [one, other] = await Promise.all([
      client.sendUntilAnswered(request),
      client.sendUntilAnswered(request),
    ]);
    return one?.payout ? one : other;
  }

  async #cancel(plan: PayoutPlan, id: string): Promise<void> {
    if (plan.cancelAfterMs === null) return;
    await sleep(plan.cancelAfterMs);
    const answer = await this.#parts.client.cancel(this.#findPayer(plan), id);
    count(this.cancels, answer === null ? 'unanswered' : `${answer.status} ${answer.code ?? ''}`.trim());
  }

  /** Ends an order that the network leaves undecided, or contradicts its outcome. The order may never arrive. */
  async #end(plan: PayoutPlan, id: string): Promise<void> {
    if (plan.end === null) return;
    const { outcome, afterMs } = plan.end;
    const { rails } = this.#parts;
    const endToEndId = toRailReference(id, this.#findPayer(plan).number);
    const anyway = plan.receiver !== 'undecided';
    for (let tries = 0; tries < 40; tries += 1) {
      await sleep(250);
      const status = await rails.orderStatus(endToEndId).catch(() => null);
      if (status === null || (anyway && status === 'PROCESSING')) continue;
      await sleep(afterMs);
      return retry(async () => void (await rails.endOrder({ endToEndId, outcome, anyway })));
    }
  }

  async #repeat({ sendMode, cancelAfterMs }: PayoutPlan, request: PayoutRequest): Promise<void> {
    const { client } = this.#parts;
    if (sendMode === 'repeated_later') {
      await sleep(cancelAfterMs ?? 300);
      await client.send(request);
    }
    if (sendMode === 'other_body') await client.send({ ...request, amountInCents: 777_777 });
  }

  #findPayer({ organization }: PayoutPlan): Payer {
    const { payers } = this.#parts;
    return payers[organization % payers.length] ?? payers[0];
  }
}

/** Adds test people to the directory. */
export async function fillDirectory(rails: RailControl): Promise<void> {
  for (const listing of LISTINGS) await retry(() => rails.list(listing));
}

/** Deposits funds for an organization with the operator's command, journaled like every deposit. */
export async function fund(
  stack: Stack,
  journal: ClientJournal,
  { organizationId, apiKey }: Pick<Payer, 'organizationId' | 'apiKey'>,
  { about, amountInCents }: { readonly about: string; readonly amountInCents: number },
): Promise<Payer> {
  journal.write({ kind: 'operator', act: 'deposit', about, organizationId, amountInCents });
  const pesos = `${Math.floor(amountInCents / 100)}.${String(amountInCents % 100).padStart(2, '0')}`;
  await stack.command('ledger', 'deposit', '--org', organizationId, '--amount', pesos, '--reference', about);
  journal.write({ kind: 'done', about });
  const [row] = await stack.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [organizationId],
  );
  return { organizationId, apiKey, number: row?.number ?? 0 };
}

/** The simulator's control API may be down for some seconds. */
async function retry(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    try {
      return await work();
    } catch {
      await sleep(250);
    }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
