import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from '../clients/client-journal.ts';
import { PayinClient, type PayinRequest } from '../clients/payin-client.ts';
import { PayoutClient } from '../clients/payout-client.ts';
import type { Random } from '../run/random.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { actAsPayer, toRailReference } from './payer.ts';
import { planPayin } from './payin-plan.ts';
import { fillDirectory, fund, PayoutLoad } from './payout-load.ts';
import { planPayout } from './payout-plan.ts';

/** Merchants that create and repeat payins, payers that pay in every possible way, and business time that jumps. */
export interface Load {
  readonly rails: RailControl;
  readonly counts: { payins: number; payouts: number; sent: number; repeats: number; shifts: number };
  /** Resolves when no request is in flight; `resume` continues. */
  pause(): Promise<void>;
  resume(): void;
}

export interface LoadOptions {
  readonly lanes?: number;
  /** Average pause between two requests of a lane. */
  readonly pauseMs?: number;
  /** Excludes the magic documents whose calls are slow or lost: they delay every other call. */
  readonly gentle?: boolean;
  /** Creates payouts as well as payins. */
  readonly payouts?: boolean;
}

const MERCHANT_ACTS = {
  create: 68,
  create_concurrently: 8,
  repeat: 14,
  other_body: 3,
  other_key: 3,
  token: 4,
  stray: 2,
  payout: 0,
};
const ACTS_WITH_PAYOUTS = { ...MERCHANT_ACTS, payout: 30 };
/** More than a run can spend, but less than the largest payouts. */
const FUNDS_IN_CENTS = 90_000_000_000;
/** Seconds: past the first, second and third status poll, and past the expiry. */
const SHIFTS = { '4': 40, '31': 25, '360': 15, '1260': 10, '3660': 8 };

export async function startLoad(
  stack: Stack,
  journal: ClientJournal,
  random: Random,
  options: LoadOptions = {},
): Promise<Load> {
  const client = new PayinClient(journal, stack.organization, stack.apis);
  const rails = railControl(stack.simulatorUrl);
  const [row] = await stack.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [stack.organization.organizationId],
  );
  const payouts = options.payouts ? await startPayouts(stack, journal, rails) : null;
  const load = new RunningLoad(stack, client, rails, row?.number ?? 0, options, payouts);
  load.resume(random);
  return {
    rails,
    counts: load.counts,
    pause: () => load.pause(),
    resume: () => load.resume(random),
  };
}

async function startPayouts(stack: Stack, journal: ClientJournal, rails: RailControl): Promise<PayoutLoad> {
  const deposit = { about: 'funds', amountInCents: FUNDS_IN_CENTS };
  const [payer] = await Promise.all([
    fund(stack, journal, stack.organization, deposit),
    fillDirectory(rails),
  ]);
  return new PayoutLoad({ client: new PayoutClient(journal, stack.apis), rails, payers: [payer] });
}

class RunningLoad {
  readonly counts = { payins: 0, payouts: 0, sent: 0, repeats: 0, shifts: 0 };
  readonly #stack: Stack;
  readonly #client: PayinClient;
  readonly #rails: RailControl;
  readonly #organizationNumber: number;
  readonly #options: LoadOptions;
  readonly #payouts: PayoutLoad | null;
  readonly #earlier: PayinRequest[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #running = false;
  #made = 0;

  constructor(
    stack: Stack,
    client: PayinClient,
    rails: RailControl,
    organizationNumber: number,
    options: LoadOptions,
    payouts: PayoutLoad | null,
  ) {
    this.#payouts = payouts;
    this.#stack = stack;
    this.#client = client;
    this.#rails = rails;
    this.#organizationNumber = organizationNumber;
    this.#options = options;
  }

  resume(random: Random): void {
    this.#running = true;
    for (let lane = 0; lane < (this.#options.lanes ?? 4); lane += 1)
      this.#track(this.#merchant(random.branch()));
    this.#track(this.#shiftTime(random.branch()));
  }

  async pause(): Promise<void> {
    this.#running = false;
    // Payers may start while this waits; wait for them too.
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  async #merchant(random: Random): Promise<void> {
    while (this.#running) {
      // The rails' control API may be down for a moment; a merchant's own requests never throw.
      await this.#act(random).catch(() => undefined);
      this.counts.sent = this.#client.attempts;
      await sleep(random.integer(0, 2 * (this.#options.pauseMs ?? 60)));
    }
  }

  async #act(random: Random): Promise<void> {
    const shouldContinue = () => this.#running;
    const old = this.#earlier[random.integer(0, Math.max(0, this.#earlier.length - 1))];
    switch (random.weighted(this.#payouts ? ACTS_WITH_PAYOUTS : MERCHANT_ACTS)) {
      case 'create':
        return this.#create(random, (request) => this.#client.sendUntilAnswered(request, shouldContinue));
      case 'create_concurrently':
        return this.#create(random, async (request) => {
          const [one, other] = await Promise.all([
            this.#client.sendUntilAnswered(request, shouldContinue),
            this.#client.sendUntilAnswered(request, shouldContinue),
          ]);
          return one?.payin ? one : other;
        });
      case 'repeat':
        this.counts.repeats += 1;
        return void (old && (await this.#client.send(old)));
      case 'other_body':
        return void (
          old?.idempotencyKey &&
          (await this.#client.send({ ...old, body: { ...old.body, amountInCents: 777_777 } }))
        );
      case 'other_key':
        return void (old && (await this.#client.send({ ...old, idempotencyKey: this.#name('key') })));
      case 'token':
        return this.#client.requestToken();
      case 'payout':
        this.counts.payouts += 1;
        // The lane does not wait for it: ending an order manually takes seconds.
        return this.#track(
          this.#payouts?.execute(planPayout(random.branch(), this.#name('p').replace('-', ''))) ??
            Promise.resolve(),
        );
      case 'stray':
        // A payer pays a key that was never issued.
        return void (await this.#rails.pay({
          key: `@STRAY${this.#name('K').replace('-', '')}`,
          amount: '4321.00',
          anyway: true,
        }));
    }
  }

  async #create(
    random: Random,
    how: (request: PayinRequest) => Promise<Awaited<ReturnType<PayinClient['send']>>>,
  ): Promise<void> {
    const plan = planPayin(
      random,
      () => this.#name('key'),
      () => this.#name('order'),
      this.#options.gentle,
    );
    const { request } = plan;
    this.#earlier.push(request);
    if (this.#earlier.length > 400) this.#earlier.shift();
    const answer = await how(request);
    if (!answer?.payin) return;
    this.counts.payins += 1;
    if (plan.magic) return;
    const { payin } = answer;
    const reference = toRailReference(payin.id, this.#organizationNumber);
    this.#track(actAsPayer(this.#rails, random.branch(), payin, reference));
  }

  async #shiftTime(random: Random): Promise<void> {
    while (this.#running) {
      await sleep(random.integer(500, 1500));
      // If a shift fails halfway, the next one brings both clocks to the same time.
      await this.#stack.shiftTime(Number(random.weighted(SHIFTS)) * 1000).catch(() => undefined);
      this.counts.shifts += 1;
    }
  }

  #name(what: string): string {
    this.#made += 1;
    return `${what}-${this.#made}`;
  }
}
