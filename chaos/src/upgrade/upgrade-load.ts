import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from '../clients/client-journal.ts';
import { PayinClient } from '../clients/payin-client.ts';
import { PayoutClient } from '../clients/payout-client.ts';
import { actAsPayer, toRailReference } from '../load/payer.ts';
import { planPayin } from '../load/payin-plan.ts';
import { type Payer, PayoutLoad } from '../load/payout-load.ts';
import { type PayoutPlan, planPayout } from '../load/payout-plan.ts';
import type { Random } from '../run/random.ts';
import type { RailControl } from '../stack/rail-control.ts';

/** Attempt numbers identify requests in the journal; the payouts' client counts from zero. */
const FIRST_PAYIN_ATTEMPT = 10_000_000;

interface LoadParts {
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly random: Random;
  readonly payer: Payer;
  /** URL of the load balancer. */
  readonly url: string;
  readonly perSecond: number;
}

/** Creates payins and payouts at a fixed rate, whatever the answers, and never repeats a request. */
export class UpgradeLoad {
  /** Requests by their answer: `payin 201`. */
  readonly answers = new Map<string, number>();
  readonly #parts: LoadParts;
  readonly #payins: PayinClient;
  readonly #payoutLoad: PayoutLoad;
  readonly #running = new Set<Promise<void>>();
  #ending = false;
  #pace: Promise<void> | null = null;
  #started = 0;

  constructor(parts: LoadParts) {
    const { journal, rails, payer, url } = parts;
    this.#parts = parts;
    this.#payins = new PayinClient(journal, payer, [{ url }], FIRST_PAYIN_ATTEMPT);
    const client = new PayoutClient(journal, [{ url }]);
    this.#payoutLoad = new PayoutLoad({ client, rails, payers: [payer], retriesFailures: false });
  }

  start(): void {
    this.#pace = this.#run();
  }

  /** Stops creating and waits for the requests and payers in progress. */
  async stop(): Promise<void> {
    this.#ending = true;
    await this.#pace;
    await Promise.all(this.#running);
  }

  get requests(): number {
    return this.#started;
  }

  /** Answers other than a creation. */
  failures(): string[] {
    const answers = [
      ...this.answers,
      ...[...this.#payoutLoad.answers].map(([answer, count]) => [`payout ${answer}`, count] as const),
    ];
    return answers
      .filter(([answer]) => !answer.endsWith(' 201'))
      .map(([answer, count]) => `${count} × ${answer}`);
  }

  async #run(): Promise<void> {
    const { perSecond } = this.#parts;
    const startedAt = performance.now();
    while (!this.#ending) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
      for (; this.#started < due; this.#started += 1) this.#begin(this.#started);
      await sleep(5);
    }
  }

  #begin(number: number): void {
    const random = this.#parts.random.branch();
    const life = number % 2 === 0 ? this.#payin(random, `u${number}`) : this.#payout(random, `u${number}`);
    const ended = life.finally(() => this.#running.delete(ended));
    this.#running.add(ended);
  }

  async #payin(random: Random, name: string): Promise<void> {
    const { rails, payer } = this.#parts;
    const { request, magic } = planPayin(
      random,
      () => `key-${name}`,
      () => `order-${name}`,
      true,
    );
    const answer = await this.#payins.send(request);
    const text = answer === null ? 'payin unanswered' : `payin ${answer.code ?? ''} ${answer.status}`;
    const key = text.replaceAll(/ +/g, ' ');
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    if (magic || !answer?.payin) return;
    const reference = toRailReference(answer.payin.id, payer.number);
    await actAsPayer(rails, random, answer.payin, reference).catch(() => undefined);
  }

  #payout(random: Random, name: string): Promise<void> {
    return this.#payoutLoad.execute({
      ...planPayoutToOpenKey(random, name),
      organization: 0,
      sendMode: 'once',
      lookedUp: false,
      cancelAfterMs: null,
    });
  }
}

/**
 * A payout to a key that can receive. Payouts to missing and suspended keys count as lookups without a match: at this rate
 * they would exhaust the organization's budget, and the API would rightly answer 429.
 */
function planPayoutToOpenKey(random: Random, name: string): PayoutPlan {
  for (;;) {
    const plan = planPayout(random, name);
    if (plan.receiver !== 'missing' && plan.receiver !== 'suspended') return plan;
  }
}
