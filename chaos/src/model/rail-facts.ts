import { type JournalLine, OrderFacts } from './order-facts.ts';
import type { Rail } from './rail.ts';

export interface Execution {
  readonly seq: number;
  readonly rail: Rail;
  readonly reference: string;
  readonly executionId: string;
  readonly cents: bigint;
}

/** What happened to a collection at its rail: a Bre-B key, or a PSE transaction under Caudal's reference. */
export interface Collection {
  /** Journal position at which the rail first knew it. */
  opened: number | null;
  closed: number | null;
  readonly rejections: { readonly seq: number; readonly code: string }[];
  /** `stands`: the rail's own status; otherwise a notice that contradicts it. */
  readonly ends: { readonly seq: number; readonly code: string; readonly stands: boolean }[];
  readonly executions: Execution[];
  /** Journal positions at which it was queried or closed. */
  readonly polled: number[];
  /** Journal positions at which the rail answered a query, which lists its payments. */
  readonly queried: number[];
}

export interface Notice {
  readonly seq: number;
  readonly noticeId: string;
  readonly rail: Rail;
  /** For a payout, the reference is the end-to-end id and the execution is outgoing. */
  readonly about: 'payin' | 'payout';
  readonly reference: string;
  /** Null for a notice without money. */
  readonly executionId: string | null;
  readonly fault: string | null;
  acknowledged: boolean;
}

/** What happened at the rails since a history started, according to their journal. Checks compare it with the database. */
export class RailFacts {
  readonly executions: Execution[] = [];
  readonly notices = new Map<string, Notice>();
  /** Outgoing payments. */
  readonly orders = new OrderFacts();
  /** Rails that executed a query whose response was lost. */
  readonly lostAnswers = new Set<Rail>();
  /** Amounts of PSE transactions; the line of their end does not contain them. */
  readonly amounts = new Map<string, bigint>();
  /** Number of times that faults applied. */
  faultsApplied = 0;
  lastSeq = 0;
  readonly #collections = new Map<string, Collection>();

  of(reference: string): Collection {
    const known = this.#collections.get(reference);
    if (known) return known;
    const fresh: Collection = {
      opened: null,
      closed: null,
      rejections: [],
      ends: [],
      executions: [],
      polled: [],
      queried: [],
    };
    this.#collections.set(reference, fresh);
    return fresh;
  }

  noticesFor(about: Notice['about']): Notice[] {
    return [...this.notices.values()].filter((notice) => notice.about === about);
  }

  noticesAbout(reference: string): Notice[] {
    return [...this.notices.values()].filter((notice) => notice.reference === reference);
  }

  take(line: JournalLine): void {
    this.lastSeq = line.seq;
    READERS[line.kind]?.(this, line);
    this.orders.take(line);
  }
}

type Reader = (facts: RailFacts, line: JournalLine) => void;

const READERS: Readonly<Record<string, Reader>> = {
  'breb.register': (facts, { seq, keys }) => {
    for (const row of keys as readonly (readonly unknown[])[]) {
      const collection = facts.of(String(row[0]));
      const rejected = row[5] as string | null;
      if (rejected === null) collection.opened ??= seq;
      else collection.rejections.push({ seq, code: rejected });
    }
  },
  'breb.close': (facts, { seq, keys }) => {
    for (const key of keys as readonly string[]) {
      const collection = facts.of(key);
      collection.closed ??= seq;
      collection.polled.push(seq);
    }
  },
  'breb.query': polled,
  'pse.query': polled,
  'breb.paid': (facts, { seq, key, executionId, amount }) =>
    paid(facts, {
      seq,
      rail: 'BRE_B',
      reference: String(key),
      executionId: String(executionId),
      cents: toCents(String(amount)),
    }),
  'breb.ended': (facts, { seq, key, outcome, code, contradicts }) => {
    const reason = outcome === 'CANCELED' ? 'CANCELED' : String(code);
    facts.of(String(key)).ends.push({ seq, code: reason, stands: contradicts === false });
  },
  'pse.create': (facts, { seq, reference, returnCode, created }) => {
    const collection = facts.of(String(reference));
    if (returnCode !== 'SUCCESS') collection.rejections.push({ seq, code: String(returnCode) });
    else collection.opened ??= seq;
    const amount = (created as { readonly amount: string } | null)?.amount;
    if (amount !== undefined) facts.amounts.set(String(reference), toCents(amount));
  },
  'pse.ended': (facts, { seq, reference, transactionId, state, reason }) => {
    const name = String(reference);
    const collection = facts.of(name);
    const isPaid = collection.executions.length > 0;
    if (state !== 'OK') {
      collection.ends.push({ seq, code: String(reason), stands: !isPaid });
    } else if (!isPaid) {
      const cents = facts.amounts.get(name) ?? 0n;
      paid(facts, { seq, rail: 'PSE', reference: name, executionId: String(transactionId), cents });
    }
  },
  'notice.queued': (facts, { seq, rail, notice, fault }) => {
    const content = notice as Readonly<Record<string, string>>;
    const { noticeId, key, reference, type, state, executionId, transactionId, endToEndId } = content;
    const pays = type === 'SETTLED' || type === 'ORDER_SETTLED' || state === 'OK';
    const isOrder = type?.startsWith('ORDER_') === true;
    facts.notices.set(noticeId ?? '', {
      seq,
      noticeId: noticeId ?? '',
      rail: rail as Rail,
      about: isOrder ? 'payout' : 'payin',
      reference: (isOrder ? endToEndId : (key ?? reference)) ?? '',
      executionId: pays ? (executionId ?? transactionId ?? null) : null,
      fault: fault as string | null,
      acknowledged: false,
    });
  },
  'notice.acknowledged': (facts, { noticeIds }) => {
    for (const noticeId of noticeIds as readonly string[]) {
      const notice = facts.notices.get(noticeId);
      if (notice) notice.acknowledged = true;
    }
  },
  'fault.applied': (facts, { rail, operation, fault }) => {
    facts.faultsApplied += 1;
    if (fault === 'lost-answer' && (operation === 'query' || operation === 'close'))
      facts.lostAnswers.add(rail as Rail);
  },
};

function polled(facts: RailFacts, { seq, results }: JournalLine): void {
  for (const [reference] of results as readonly (readonly [string, string])[]) {
    facts.of(reference).polled.push(seq);
    facts.of(reference).queried.push(seq);
  }
}

function paid(facts: RailFacts, execution: Execution): void {
  facts.executions.push(execution);
  facts.of(execution.reference).executions.push(execution);
}

function toCents(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
