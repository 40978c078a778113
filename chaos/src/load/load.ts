import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type PayinRequest } from './client.ts';
import type { ClientJournal } from './client-journal.ts';
import { actAsPayer, pseReferenceOf } from './payer.ts';
import { planPayin } from './payin-plan.ts';
import { PayoutClient } from './payout-client.ts';
import { fillDirectory, fund, PayoutLoad } from './payout-load.ts';
import { planPayout } from './payout-plan.ts';
import { type RailControl, railControl } from './rail-control.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

/** Merchants who create and repeat, payers who pay in every way there is, and time that goes by in jumps. */
export interface Load {
  readonly rails: RailControl;
  readonly counts: { payins: number; payouts: number; sent: number; repeats: number; shifts: number };
  /** Resolves when nothing is under way; `resume` goes on. */
  pause(): Promise<void>;
  resume(): void;
}

export interface LoadOptions {
  readonly lanes?: number;
  /** Between two requests of a lane. */
  readonly pauseMs?: number;
  /** Leaves the magic documents out that answer late or get lost: a call of theirs takes everybody's time. */
  readonly gentle?: boolean;
  /** Payouts beside the payins. */
  readonly payouts?: boolean;
}

const MERCHANT_ACTS = {
  create: 68,
  'create twice at once': 8,
  repeat: 14,
  'other body': 3,
  'other key': 3,
  token: 4,
  stray: 2,
  payout: 0,
};
const ACTS_WITH_PAYOUTS = { ...MERCHANT_ACTS, payout: 30 };
/** More than a run can spend, and less than the largest payouts. */
const FUNDS_IN_CENTS = 90_000_000_000;
/** Seconds: past the first question, the second, the third, the expiry. */
const SHIFTS = { '4': 40, '31': 25, '360': 15, '1260': 10, '3660': 8 };

export async function startLoad(
  stage: Stage,
  journal: ClientJournal,
  random: Random,
  options: LoadOptions = {},
): Promise<Load> {
  const client = new Client(journal, stage.organization, stage.apis);
  const rails = railControl(stage.simulatorUrl);
  const [row] = await stage.query<{ number: number }>(
    'select number from caudal.organizations where id = $1',
    [stage.organization.organizationId],
  );
  const payouts = options.payouts ? await startPayouts(stage, journal, rails) : null;
  const load = new RunningLoad(stage, client, rails, row?.number ?? 0, options, payouts);
  load.resume(random);
  return {
    rails,
    counts: load.counts,
    pause: () => load.pause(),
    resume: () => load.resume(random),
  };
}

async function startPayouts(stage: Stage, journal: ClientJournal, rails: RailControl): Promise<PayoutLoad> {
  const deposit = { about: 'funds', amountInCents: FUNDS_IN_CENTS };
  const [payer] = await Promise.all([
    fund(stage, journal, stage.organization, deposit),
    fillDirectory(rails),
  ]);
  return new PayoutLoad({ client: new PayoutClient(journal, stage.apis), rails, payers: [payer] });
}

class RunningLoad {
  readonly counts = { payins: 0, payouts: 0, sent: 0, repeats: 0, shifts: 0 };
  readonly #stage: Stage;
  readonly #client: Client;
  readonly #rails: RailControl;
  readonly #organizationNumber: number;
  readonly #options: LoadOptions;
  readonly #payouts: PayoutLoad | null;
  readonly #earlier: PayinRequest[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #running = false;
  #made = 0;

  constructor(
    stage: Stage,
    client: Client,
    rails: RailControl,
    organizationNumber: number,
    options: LoadOptions,
    payouts: PayoutLoad | null,
  ) {
    this.#payouts = payouts;
    this.#stage = stage;
    this.#client = client;
    this.#rails = rails;
    this.#organizationNumber = organizationNumber;
    this.#options = options;
  }

  resume(random: Random): void {
    this.#running = true;
    for (let lane = 0; lane < (this.#options.lanes ?? 4); lane += 1)
      this.#follow(this.#merchant(random.branch()));
    this.#follow(this.#shiftTime(random.branch()));
  }

  async pause(): Promise<void> {
    this.#running = false;
    // Payers that are started while we wait are waited for as well.
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #follow(work: Promise<unknown>): void {
    const followed = work.catch(() => undefined).finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  async #merchant(random: Random): Promise<void> {
    while (this.#running) {
      // The rails' door may be shut for a moment; a merchant's own requests never throw.
      await this.#act(random).catch(() => undefined);
      this.counts.sent = this.#client.attempts;
      await sleep(random.whole(0, 2 * (this.#options.pauseMs ?? 60)));
    }
  }

  async #act(random: Random): Promise<void> {
    const keepOn = () => this.#running;
    const old = this.#earlier[random.whole(0, Math.max(0, this.#earlier.length - 1))];
    switch (random.weighted(this.#payouts ? ACTS_WITH_PAYOUTS : MERCHANT_ACTS)) {
      case 'create':
        return this.#create(random, (request) => this.#client.insist(request, keepOn));
      case 'create twice at once':
        return this.#create(random, async (request) => {
          const [one, other] = await Promise.all([
            this.#client.insist(request, keepOn),
            this.#client.insist(request, keepOn),
          ]);
          return one?.payin ? one : other;
        });
      case 'repeat':
        this.counts.repeats += 1;
        return void (old && (await this.#client.send(old)));
      case 'other body':
        return void (
          old?.idempotencyKey &&
          (await this.#client.send({ ...old, body: { ...old.body, amountInCents: 777_777 } }))
        );
      case 'other key':
        return void (old && (await this.#client.send({ ...old, idempotencyKey: this.#name('key') })));
      case 'token':
        return this.#client.takeToken();
      case 'payout':
        this.counts.payouts += 1;
        // A lane goes on meanwhile: what is done about an order by hand takes seconds.
        return this.#follow(
          this.#payouts?.carryOut(planPayout(random.branch(), this.#name('p').replace('-', ''))) ??
            Promise.resolve(),
        );
      case 'stray':
        // Somebody pays a key that nobody ever gave out.
        return void (await this.#rails.pay({
          key: `@STRAY${this.#name('K').replace('-', '')}`,
          amount: '4321.00',
          anyway: true,
        }));
    }
  }

  async #create(
    random: Random,
    how: (request: PayinRequest) => Promise<Awaited<ReturnType<Client['send']>>>,
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
    const reference = pseReferenceOf(payin.id, this.#organizationNumber);
    this.#follow(actAsPayer(this.#rails, random.branch(), payin, reference));
  }

  async #shiftTime(random: Random): Promise<void> {
    while (this.#running) {
      await sleep(random.whole(500, 1500));
      // When it fails half way, the next one brings both clocks to the same time.
      await this.#stage.shiftTime(Number(random.weighted(SHIFTS)) * 1000).catch(() => undefined);
      this.counts.shifts += 1;
    }
  }

  #name(what: string): string {
    this.#made += 1;
    return `${what}-${this.#made}`;
  }
}
