import { journalLines } from './journal-lines.ts';
import { cents, OrderFacts, type PayoutFacts } from './rail-orders.ts';

type RailName = 'BRE_B' | 'PSE';

/** A payment that a rail executed. */
export interface Execution {
  readonly seq: number;
  readonly realMs: number;
  readonly rail: RailName;
  /** The Bre-B key, or Caudal's reference at PSE. */
  readonly reference: string;
  readonly executionId: string;
  readonly cents: bigint;
}

/** An end without money, as the rail decided or reported it. */
export interface RailEnd {
  readonly seq: number;
  readonly rail: RailName;
  readonly reference: string;
  /** Who ended it: the payer, or the rail and its banks. */
  readonly by: 'payer' | 'rail';
  /** Contradicts the earlier outcome. */
  readonly contradicts: boolean;
}

interface QueuedNotice {
  readonly noticeId: string;
  readonly rail: RailName;
  readonly reference: string;
  /** The execution that it reports; null for none. */
  readonly executionId: string | null;
  readonly fault: string | null;
}

/** An order of Caudal as the rail received it. */
interface Order {
  readonly seq: number;
  readonly rail: RailName;
  readonly reference: string;
  /** The payin's id for a key, the merchant's reference for a bank transaction. */
  readonly about: string;
  readonly cents: bigint;
  readonly rejected: boolean;
}

/** What happened at the rails, according to their journal. */
export interface RailFacts {
  readonly executions: readonly Execution[];
  readonly ends: readonly RailEnd[];
  readonly orders: readonly Order[];
  /** References of rejected orders. */
  readonly rejections: ReadonlySet<string>;
  /** The first closing of each key: its position in the journal and its real time. */
  readonly closed: ReadonlyMap<string, { readonly seq: number; readonly realMs: number }>;
  /** The journal position of the last query of each reference. */
  readonly lastQueried: ReadonlyMap<string, number>;
  readonly queued: ReadonlyMap<string, QueuedNotice>;
  readonly acknowledged: ReadonlySet<string>;
  /** The time shifts of the rails: real time and the total shift from then on. */
  readonly shifts: readonly { readonly realMs: number; readonly shiftMs: number }[];
  /** Outgoing money; the other fields, except notices, are about incoming money. */
  readonly payouts: PayoutFacts;
  /** Sequence number of the last line. */
  readonly lastSeq: number;
}

interface Line {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** PSE reasons caused by the payer: canceled, never reached the bank, or never finished there. */
const PAYER_REASONS: ReadonlySet<unknown> = new Set(['1', '14', '15']);

export function readRailFacts(path: string): RailFacts {
  const facts = new Facts();
  for (const line of journalLines<Line>(path)) facts.take(line);
  return facts;
}

class Facts implements RailFacts {
  readonly executions: Execution[] = [];
  readonly ends: RailEnd[] = [];
  readonly orders: Order[] = [];
  readonly rejections = new Set<string>();
  readonly closed = new Map<string, { seq: number; realMs: number }>();
  readonly lastQueried = new Map<string, number>();
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
        for (const [reference] of line['results'] as [string, string][])
          this.lastQueried.set(reference, line.seq);
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
        // The line's timestamp is from before the shift.
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
    for (const [reference, about, amount, , , rejected] of rows) {
      this.orders.push({
        seq,
        rail: 'BRE_B',
        reference,
        about,
        cents: cents(amount),
        rejected: rejected !== null,
      });
      if (rejected !== null) this.rejections.add(reference);
    }
  }

  #created(line: Line): void {
    const reference = String(line['reference']);
    if (line['returnCode'] !== 'SUCCESS') this.rejections.add(reference);
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
      rejected: false,
    });
  }

  /** A transaction is paid once; later decisions are only notices. */
  #decided(line: Line, reference: string, executionId: string): void {
    if (line['state'] !== 'OK') return this.#ended(line, 'PSE', reference, PAYER_REASONS.has(line['reason']));
    if (this.#paidAtBank.has(reference)) return;
    this.#paidAtBank.add(reference);
    this.#executed(line, 'PSE', reference, executionId, this.#amountAtBank.get(reference) ?? 0n);
  }

  #executed(line: Line, rail: RailName, reference: string, executionId: string, amount: bigint): void {
    this.executions.push({
      seq: line.seq,
      realMs: this.#realMs(line),
      rail,
      reference,
      executionId,
      cents: amount,
    });
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
  rejected: string | null,
];
