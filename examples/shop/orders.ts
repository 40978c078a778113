import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export interface Order {
  /** Hard to guess, because it is in the URL of the order page; also part of the payment link reference. */
  readonly id: string;
  readonly item: string;
  readonly pesos: number;
  readonly state: 'waiting' | 'paid' | 'expired';
  /** URL of the newest payment link. */
  readonly link: string | null;
}

/** The orders of the shop. Only webhook events change their payment state, never the payer's browser. */
export class Orders {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`
      create table if not exists orders (
        id text primary key, item text not null, pesos integer not null,
        state text not null default 'waiting', link text, attempts integer not null default 0
      ) strict;
      create table if not exists seen_events (id text primary key) strict;
    `);
  }

  place(item: string, pesos: number): Order {
    const id = randomBytes(9).toString('base64url');
    this.#db.prepare('insert into orders (id, item, pesos) values (?, ?, ?)').run(id, item, pesos);
    return { id, item, pesos, state: 'waiting', link: null };
  }

  get(id: string): Order | null {
    const row = this.#db.prepare('select id, item, pesos, state, link from orders where id = ?').get(id);
    return (row as unknown as Order | undefined) ?? null;
  }

  /** A link is valid for an hour; a new link for the same order needs a new reference. */
  nextReference(id: string): string {
    const row = this.#db
      .prepare('update orders set attempts = attempts + 1 where id = ? returning attempts')
      .get(id) as { attempts: number };
    return `${id}.${row.attempts}`;
  }

  setLink(id: string, link: string): void {
    this.#db
      .prepare("update orders set link = ?, state = 'waiting' where id = ? and state <> 'paid'")
      .run(link, id);
  }

  /**
   * Events are delivered at least once, so the event id is stored in the transaction that applies the event.
   * @returns false when the event was already applied
   */
  apply(eventId: string, reference: string, state: 'paid' | 'expired'): boolean {
    this.#db.exec('begin immediate');
    try {
      const { changes } = this.#db.prepare('insert or ignore into seen_events values (?)').run(eventId);
      if (changes === 1)
        this.#db
          .prepare("update orders set state = ? where id = ? and state <> 'paid'")
          .run(state, reference.split('.')[0] ?? '');
      this.#db.exec('commit');
      return changes === 1;
    } catch (error) {
      this.#db.exec('rollback');
      throw error;
    }
  }
}
