import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';

const LOOK_EVERY_MS = 400;

/** Measures, in real time, how long payouts take from the answer to their creation until they are final. */
export class PayoutWatch {
  readonly #stage: Stage;
  readonly #open = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  #slowest: { readonly id: string; readonly ms: number } | null = null;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#done = this.#run();
  }

  /** The longest, and what was done about that payout meanwhile, in business time. */
  async told(): Promise<string> {
    if (this.#slowest === null) return 'nothing came to its end';
    const { id, ms } = this.#slowest;
    const rows = await this.#stage.query<{ what: string; at: Date }>(
      `select 'created' as what, created_at as at from caudal.payouts where id = $1
       union all select 'attempt ' || number || ' ' || coalesce(answer, 'unanswered') || coalesce(' (' || reason || ')', ''), at
         from caudal.payout_attempts where payout_id = $1
       union all select lower(to_status) || ' (' || cause || ')', at
         from caudal.payout_history where payout_id = $1 and from_status <> 'NONE'
       order by at`,
      [id],
    );
    const life = rows.map(({ what, at }) => `${at.toISOString().slice(11, 19)} ${what}`).join(', ');
    return `longest time to final ${(ms / 1000).toFixed(1)} s, outages included (${id}: ${life})`;
  }

  note(payoutId: string): void {
    this.#open.set(payoutId, performance.now());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      // While the database is away there is nothing to see.
      await this.#look().catch(() => undefined);
      await sleep(LOOK_EVERY_MS);
    }
    await this.#look();
  }

  async #look(): Promise<void> {
    if (this.#open.size === 0) return;
    const ended = await this.#stage.query<{ id: string }>(
      `select id from caudal.payouts where id = any($1::uuid[]) and status <> 'PROCESSING'`,
      [[...this.#open.keys()]],
    );
    const now = performance.now();
    for (const { id } of ended) {
      const ms = now - (this.#open.get(id) ?? now);
      if (ms > (this.#slowest?.ms ?? 0)) this.#slowest = { id, ms };
      this.#open.delete(id);
    }
  }
}
