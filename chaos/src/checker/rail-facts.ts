import { journalLines } from './journal-lines.ts';
import { cents, OrderFacts, type PayoutFacts } from './rail-orders.ts';

type RailName = 'BRE_B' | 'PSE';

/** Money that moved at a rail. */
export interface Execution {
  readonly seq: number;
  readonly rail: RailName;
  /** The key, or our reference at PSE. */
  readonly reference: string;
  readonly executionId: string;
  readonly cents: bigint;
}

/** An end without money, as the rail decided or said it. */
export interface RailEnd {
  readonly seq: number;
  readonly rail: RailName;
  readonly reference: string;
  /** Whose doing it was: the payer's, or the rail's and its banks'. */
  readonly by: 'payer' | 'rail';
  /** Said against what stood. */
  readonly contradicts: boolean;
}

interface QueuedNotice {
  readonly noticeId: string;
  readonly rail: RailName;
  readonly reference: string;
  /** The money it tells of; null when it tells of none. */
  readonly executionId: string | null;
  readonly fault: string | null;
}

/** An order of ours as the rail received it. */
interface Order {
  readonly seq: number;
  readonly rail: RailName;
  readonly reference: string;
  /** As the rail was told: the id for a key, the merchant's reference for a bank transaction. */
  readonly about: string;
  readonly cents: bigint;
  readonly refused: boolean;
}

/** What happened at the rails, by their own journal. */
export interface RailFacts {
  readonly executions: readonly Execution[];
  readonly ends: readonly RailEnd[];
  readonly orders: readonly Order[];
  /** References whose order was refused. */
  readonly refusals: ReadonlySet<string>;
  /** The first closing of each key: its place in the journal and the real time of it. */
  readonly closed: ReadonlyMap<string, { readonly seq: number; readonly realMs: number }>;
  /** When each reference was last asked about: its place in the journal. */
  readonly asked: ReadonlyMap<string, number>;
  readonly queued: ReadonlyMap<string, QueuedNotice>;
  readonly acknowledged: ReadonlySet<string>;
  /** When the rails' time was shifted, in real time, and by how much in all from then on. */
  readonly shifts: readonly { readonly realMs: number; readonly shiftMs: number }[];
  /** Money that goes out; all the others are about money that comes in, but for notices. */
  readonly payouts: PayoutFacts;
  /** The last line that was read. */
  readonly lastSeq: number;
}

interface Line {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Reasons of PSE that are the payer's doing: canceled, never came to the bank, never finished there. */
const OF_THE_PAYER: ReadonlySet<unknown> = new Set(['1', '14', '15']);

export function readRailFacts(path: string): RailFacts {
  const facts = new Facts();
  for (const line of journalLines<Line>(path)) facts.take(line);
  return facts;
}

class Facts implements RailFacts {
  readonly executions: Execution[] = [];
  readonly ends: RailEnd[] = [];
  readonly orders: Order[] = [];
  readonly refusals = new Set<string>();
  readonly closed = new Map<string, { seq: number; realMs: number }>();
  readonly asked = new Map<string, number>();
  readonly queued = new Map<string, QueuedNotice>();
  readonly acknowledged = new Set<string>();
  readonly shifts: { realMs: number; shiftMs: number }[] = [];
  readonly payouts = new OrderFacts();
  lastSeq = 0;
  readonly #amountAtBank = new Map<string, bigint>();
  readonly #paidAtBank = new Set<string>();
  #shiftMs = 0;

  take(line: Line): void {
    this.lastSeq = line.seq;
    switch (line.kind) {
      case 'breb.register':
        return this.#registered(line, line['keys'] as RegisteredRow[]);
      case 'pse.create':
        return this.#created(line);
      case 'breb.close':
        for (const key of line['keys'] as string[])
          if (!this.closed.has(key)) this.closed.set(key, { seq: line.seq, realMs: this.#realMs(line) });
        return undefined;
      case 'breb.query':
      case 'pse.query':
        for (const [reference] of line['results'] as [string, string][]) this.asked.set(reference, line.seq);
        return undefined;
      case 'breb.paid':
        return this.#executed(
          line,
          'BRE_B',
          String(line['key']),
          String(line['executionId']),
          cents(line['amount']),
        );
      case 'breb.ended':
        return this.#ended(line, 'BRE_B', String(line['key']), line['outcome'] === 'CANCELED');
      case 'pse.ended':
        return this.#decided(line, String(line['reference']), String(line['transactionId']));
      case 'notice.queued':
        return this.#queue(line);
      case 'notice.acknowledged':
        for (const noticeId of line['noticeIds'] as string[]) this.acknowledged.add(noticeId);
        return undefined;
      case 'time.shifted':
        // Stamped with the time before the shift.
        this.shifts.push({ realMs: this.#realMs(line), shiftMs: Number(line['shiftMs']) });
        this.#shiftMs = Number(line['shiftMs']);
        return undefined;
      default:
        return this.payouts.take(line, this.#realMs(line));
    }
  }

  #realMs({ at }: Line): number {
    return Date.parse(at) - this.#shiftMs;
  }

  #registered({ seq }: Line, rows: readonly RegisteredRow[]): void {
    for (const [reference, about, amount, , , refused] of rows) {
      this.orders.push({
        seq,
        rail: 'BRE_B',
        reference,
        about,
        cents: cents(amount),
        refused: refused !== null,
      });
      if (refused !== null) this.refusals.add(reference);
    }
  }

  #created(line: Line): void {
    const reference = String(line['reference']);
    if (line['returnCode'] !== 'SUCCESS') this.refusals.add(reference);
    const created = line['created'] as { description: string; amount: string } | null;
    if (created === null) return;
    const amount = cents(created.amount);
    this.#amountAtBank.set(reference, amount);
    this.orders.push({
      seq: line.seq,
      rail: 'PSE',
      reference,
      about: created.description,
      cents: amount,
      refused: false,
    });
  }

  /** A transaction is paid once; every other decision is words. */
  #decided(line: Line, reference: string, executionId: string): void {
    if (line['state'] !== 'OK') return this.#ended(line, 'PSE', reference, OF_THE_PAYER.has(line['reason']));
    if (this.#paidAtBank.has(reference)) return;
    this.#paidAtBank.add(reference);
    this.#executed(line, 'PSE', reference, executionId, this.#amountAtBank.get(reference) ?? 0n);
  }

  #executed({ seq }: Line, rail: RailName, reference: string, executionId: string, amount: bigint): void {
    this.executions.push({ seq, rail, reference, executionId, cents: amount });
  }

  #ended(line: Line, rail: RailName, reference: string, byPayer: boolean): void {
    const contradicts = line['contradicts'] === true;
    this.ends.push({ seq: line.seq, rail, reference, by: byPayer ? 'payer' : 'rail', contradicts });
  }

  #queue(line: Line): void {
    const notice = line['notice'] as Record<string, string | null>;
    const rail = line['rail'] as RailName;
    const money =
      rail === 'BRE_B' ? notice['executionId'] : notice['state'] === 'OK' ? notice['transactionId'] : null;
    const noticeId = String(notice['noticeId']);
    this.queued.set(noticeId, {
      noticeId,
      rail,
      reference: String(rail === 'BRE_B' ? (notice['key'] ?? notice['endToEndId']) : notice['reference']),
      executionId: money ?? null,
      fault: line['fault'] as string | null,
    });
  }
}

type RegisteredRow = readonly [
  key: string,
  internalId: string,
  amount: string,
  expiresAt: string,
  payer: unknown,
  refused: string | null,
];
