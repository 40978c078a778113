import type { ClientJournal } from '../clients/client-journal.ts';

/** A creation that the API acknowledged with 201: what the merchant requested and the id that it received. */
export interface Acknowledgment {
  readonly kind: 'payin' | 'payout';
  readonly atMs: number;
  readonly id: string;
  readonly organizationId: string;
  readonly reference: string;
  readonly amountInCents: number;
}

type Line = Parameters<ClientJournal['write']>[0];
type Sent = Pick<Acknowledgment, 'organizationId' | 'reference' | 'amountInCents'>;

/** Reads along with the journal of the clients, and keeps every acknowledged creation. */
export class Acknowledgments {
  readonly all: Acknowledgment[] = [];
  readonly #sent = new Map<string, Sent>();
  readonly #ids = new Set<string>();

  /** @returns a journal that also records what it writes here */
  watch(journal: ClientJournal): ClientJournal {
    return {
      path: journal.path,
      write: (line) => {
        journal.write(line);
        this.#take(line);
      },
      close: () => journal.close(),
    };
  }

  /**
   * Longest time without a new payin in this period. Replays do not count, and neither do payouts: they are also accepted while
   * nothing is sent.
   */
  longestGapMs(fromMs: number, untilMs: number): number {
    const times = this.all.flatMap(({ kind, atMs }) =>
      kind === 'payin' && atMs > fromMs && atMs < untilMs ? [atMs] : [],
    );
    return [...times, untilMs].reduce(
      ({ previous, longest }, atMs) => ({ previous: atMs, longest: Math.max(longest, atMs - previous) }),
      { previous: fromMs, longest: 0 },
    ).longest;
  }

  get lastPayinAtMs(): number {
    return this.all.findLast(({ kind }) => kind === 'payin')?.atMs ?? 0;
  }

  #take(line: Line): void {
    switch (line.kind) {
      case 'sent':
      case 'payout_sent':
        return void this.#sent.set(`${line.kind} ${line.attempt}`, line);
      case 'answered':
        return this.#answer('payin', `sent ${line.attempt}`, line.payin);
      case 'payout_answered':
        return this.#answer('payout', `payout_sent ${line.attempt}`, line.payout);
      case 'unanswered':
        // The attempt may be of either kind; an entry that stays costs only memory.
        return;
      default:
    }
  }

  #answer(kind: Acknowledgment['kind'], attempt: string, created: { readonly id: string } | null): void {
    const sent = this.#sent.get(attempt);
    this.#sent.delete(attempt);
    if (!sent || !created || this.#ids.has(created.id)) return;
    this.#ids.add(created.id);
    const { organizationId, reference, amountInCents } = sent;
    this.all.push({ kind, atMs: Date.now(), id: created.id, organizationId, reference, amountInCents });
  }
}
