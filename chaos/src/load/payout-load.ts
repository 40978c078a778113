import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from './client-journal.ts';
import { pseReferenceOf } from './payer.ts';
import type { PayoutClient, PayoutRequest } from './payout-client.ts';
import { LISTINGS, type PayoutPlan, person } from './payout-plan.ts';
import type { RailControl } from './rail-control.ts';
import type { Stage } from './stage.ts';

/** Whoever pays: an organization with money. */
export interface Payer {
  readonly organizationId: string;
  readonly apiKey: string;
  /** As its orders carry it at the rail. */
  readonly number: number;
}

interface PayoutLoadParts {
  readonly client: PayoutClient;
  readonly rails: RailControl;
  readonly payers: readonly [Payer, ...Payer[]];
  /** A creation was answered with this payout. */
  readonly onCreated?: (payoutId: string, plan: PayoutPlan) => void;
}

/** Carries plans out: merchants that look up, pay, repeat and cancel, and a network that sometimes thinks again. */
export class PayoutLoad {
  readonly answers = new Map<string, number>();
  readonly cancels = new Map<string, number>();
  readonly #parts: PayoutLoadParts;

  constructor(parts: PayoutLoadParts) {
    this.#parts = parts;
  }

  async carryOut(plan: PayoutPlan): Promise<void> {
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
    const organization = this.#payerOf(plan);
    const { key, name } = plan;
    if (plan.receiver === 'changing') await untilDone(() => rails.list({ key, person: person(1) }));
    const lookupId = plan.lookedUp ? await client.lookUp(organization, key) : null;
    // Shown one person, and by the time the order arrives the key is another's.
    if (plan.receiver === 'changing') await untilDone(() => rails.list({ key, person: person(2) }));
    return {
      organization,
      idempotencyKey: plan.keyed ? `payout-key-${name}` : null,
      reference: `payout-${name}`,
      amountInCents: plan.amountInCents,
      key,
      lookupId,
    };
  }

  async #create({ way }: PayoutPlan, request: PayoutRequest) {
    const { client } = this.#parts;
    if (way !== 'twice at once') return client.insist(request);
    const [one, other] = await Promise.all([client.insist(request), client.insist(request)]);
    return one?.payout ? one : other;
  }

  async #cancel(plan: PayoutPlan, id: string): Promise<void> {
    if (plan.cancelAfterMs === null) return;
    await sleep(plan.cancelAfterMs);
    const answer = await this.#parts.client.cancel(this.#payerOf(plan), id);
    count(this.cancels, answer === null ? 'unanswered' : `${answer.status} ${answer.code ?? ''}`.trim());
  }

  /** Decides what is never decided by itself, or says the contrary of what was. The order may never arrive. */
  async #end(plan: PayoutPlan, id: string): Promise<void> {
    if (plan.end === null) return;
    const { outcome, afterMs } = plan.end;
    const { rails } = this.#parts;
    const endToEndId = pseReferenceOf(id, this.#payerOf(plan).number);
    const anyway = plan.receiver !== 'undecided';
    for (let tries = 0; tries < 40; tries += 1) {
      await sleep(250);
      const status = await rails.orderStatus(endToEndId).catch(() => null);
      if (status === null || (anyway && status === 'PROCESSING')) continue;
      await sleep(afterMs);
      return untilDone(async () => void (await rails.endOrder({ endToEndId, outcome, anyway })));
    }
  }

  async #repeat({ way, cancelAfterMs }: PayoutPlan, request: PayoutRequest): Promise<void> {
    const { client } = this.#parts;
    if (way === 'repeated later') {
      await sleep(cancelAfterMs ?? 300);
      await client.send(request);
    }
    if (way === 'with another body') await client.send({ ...request, amountInCents: 777_777 });
  }

  #payerOf({ organization }: PayoutPlan): Payer {
    const { payers } = this.#parts;
    return payers[organization % payers.length] ?? payers[0];
  }
}

/** Puts people into the directory. */
export async function fillDirectory(rails: RailControl): Promise<void> {
  for (const listing of LISTINGS) await untilDone(() => rails.list(listing));
}

/** Gives an organization money, by the operator's command and written down like every other deposit. */
export async function fund(
  stage: Stage,
  journal: ClientJournal,
  { organizationId, apiKey }: Pick<Payer, 'organizationId' | 'apiKey'>,
  { about, amountInCents }: { readonly about: string; readonly amountInCents: number },
): Promise<Payer> {
  journal.write({ kind: 'operator', act: 'deposit', about, organizationId, amountInCents });
  const pesos = `${Math.floor(amountInCents / 100)}.${String(amountInCents % 100).padStart(2, '0')}`;
  await stage.command('ledger', 'deposit', '--org', organizationId, '--amount', pesos, '--reference', about);
  journal.write({ kind: 'done', about });
  const [row] = await stage.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [organizationId],
  );
  return { organizationId, apiKey, number: row?.number ?? 0 };
}

/** The rail's door may be shut for some seconds. */
async function untilDone(work: () => Promise<void>): Promise<void> {
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
