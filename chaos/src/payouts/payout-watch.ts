import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../stack/stack.ts';

const POLL_INTERVAL_MS = 400;

/** Measures the real time from the acknowledged creation of a payout until it is final. */
export class PayoutWatch {
  readonly #stack: Stack;
  readonly #open = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  #slowest: { readonly id: string; readonly ms: number } | null = null;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#done = this.#run();
  }

  /** Describes the slowest payout and its history in business time. */
  async summary(): Promise<string> {
    if (this.#slowest === null) return 'no payout became final';
    const { id, ms } = this.#slowest;
    const rows = await this.#stack.query<{ what: string; at: Date }>(
      `select 'created' as what, created_at as at from caudal.payouts where id = $1
       union all select 'attempt ' || number || ' ' || coalesce(answer, 'unanswered') || coalesce(' (' || reason || ')', ''), at
         from caudal.payout_attempts where payout_id = $1
       union all select lower(to_status) || ' (' || cause || ')', at
         from caudal.payout_history where payout_id = $1 and from_status <> 'NONE'
       order by at`,
      [id],
    );
    const history = rows.map(({ what, at }) => `${at.toISOString().slice(11, 19)} ${what}`).join(', ');
    return `longest time until final: ${(ms / 1000).toFixed(1)} s, outages included (${id}: ${history})`;
  }

  add(payoutId: string): void {
    this.#open.set(payoutId, performance.now());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      // The query fails while the database is down.
      await this.#poll().catch(() => undefined);
      await sleep(POLL_INTERVAL_MS);
    }
    await this.#poll();
  }

  async #poll(): Promise<void> {
    if (this.#open.size === 0) return;
    const ended = await this.#stack.query<{ id: string }>(
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
