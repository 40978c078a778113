/** A line of the simulator's journal. */
export type JournalLine = { readonly seq: number; readonly kind: string } & Readonly<Record<string, unknown>>;

/** One arrival of an order at the rail; a resent order has several. */
export interface Arrival {
  readonly seq: number;
  /** By the rail's clock. */
  readonly atMs: number;
  readonly endToEndId: string;
  /** The internal id of the order. */
  readonly payoutId: string;
  readonly resolutionId: string | null;
  readonly key: string;
  readonly cents: bigint;
  readonly answered: 'PROCESSING' | 'DUPLICATE' | 'REJECTED';
  readonly code: string | null;
}

export interface OrderExecution {
  readonly seq: number;
  readonly endToEndId: string;
  readonly executionId: string;
  readonly cents: bigint;
  /** Executed although it had been rejected. */
  readonly anyway: boolean;
}

interface OrderEnd {
  readonly seq: number;
  /** Null for a settlement. */
  readonly code: string | null;
  /** The rail's own status; otherwise a notice that contradicts it. */
  readonly stands: boolean;
}

/** What the rail knows about an end-to-end id. */
export interface RailOrder {
  /** The arrival that it accepted. */
  taken: Arrival | null;
  readonly ends: OrderEnd[];
  /** Its responses to queries. */
  readonly answers: { readonly seq: number; readonly status: string }[];
}

/** A key resolution of the directory. */
interface Resolution {
  readonly seq: number;
  readonly atMs: number;
  readonly key: string;
  /** Type and number of the holder's document. */
  readonly person: string;
}

/** The rail leaves orders to this key open until the test ends them. */
const NEVER_ENDS = '@TESTTIMEOUT';

/** What happened to outgoing payments at the rail since a history started. */
export class OrderFacts {
  readonly arrivals: Arrival[] = [];
  readonly executions: OrderExecution[] = [];
  readonly resolutions = new Map<string, Resolution>();
  /** Rejections of lookups by the directory; a fault applies to any key (null). */
  readonly rejectedKeys: { readonly seq: number; readonly key: string | null; readonly code: string }[] = [];
  /** Keys whose listing was changed. */
  readonly changes: { readonly seq: number; readonly key: string }[] = [];
  /** A query was executed but its response was lost. */
  answerLost = false;
  readonly #orders = new Map<string, RailOrder>();
  readonly #codesOfFaults = new Map<string, string>();

  of(endToEndId: string): RailOrder {
    const known = this.#orders.get(endToEndId);
    if (known) return known;
    const fresh: RailOrder = { taken: null, ends: [], answers: [] };
    this.#orders.set(endToEndId, fresh);
    return fresh;
  }

  arrivalsFor(payoutId: string): Arrival[] {
    return this.arrivals.filter((arrival) => arrival.payoutId === payoutId);
  }

  /** Open orders: those that the rail will end, and those that it leaves open. */
  open(): { readonly ending: Arrival[]; readonly staying: Arrival[] } {
    const open = [...this.#orders.values()].flatMap(({ taken, ends }) =>
      taken && ends.length === 0 ? [taken] : [],
    );
    return {
      ending: open.filter(({ key }) => key !== NEVER_ENDS),
      staying: open.filter(({ key }) => key === NEVER_ENDS),
    };
  }

  take(line: JournalLine): void {
    READERS[line.kind]?.(this, line);
  }

  noteFault(id: string, code: string): void {
    this.#codesOfFaults.set(id, code);
  }

  codeOfFault(id: string): string | null {
    return this.#codesOfFaults.get(id) ?? null;
  }
}

type Reader = (facts: OrderFacts, line: JournalLine) => void;
type Row = readonly [string, string, string | null, string, string, Arrival['answered'], string | null];

const READERS: Readonly<Record<string, Reader>> = {
  'breb.orders': (facts, { seq, at, orders }) => {
    for (const row of orders as readonly Row[]) {
      const [endToEndId, payoutId, resolutionId, key, amount, answered, code] = row;
      const sent = { endToEndId, payoutId, resolutionId, key, cents: toCents(amount) };
      const arrival = { seq, atMs: Date.parse(String(at)), ...sent, answered, code };
      facts.arrivals.push(arrival);
      if (answered === 'PROCESSING') facts.of(endToEndId).taken = arrival;
    }
  },
  'breb.executed': (facts, { seq, endToEndId, executionId, amount, anyway }) => {
    facts.executions.push({
      seq,
      endToEndId: String(endToEndId),
      executionId: String(executionId),
      cents: toCents(String(amount)),
      anyway: anyway === true,
    });
  },
  'breb.order-ended': (facts, { seq, endToEndId, outcome, code, contradicts }) => {
    const settled = outcome === 'SETTLED';
    facts.of(String(endToEndId)).ends.push({
      seq,
      code: settled ? null : String(code),
      stands: contradicts === false,
    });
  },
  'breb.order-query': (facts, { seq, results }) => {
    for (const [endToEndId, , status] of results as readonly (readonly [string, string, string])[])
      facts.of(endToEndId).answers.push({ seq, status });
  },
  'breb.resolve': (facts, { seq, at, key, resolutionId, holder, code }) => {
    if (code !== null) facts.rejectedKeys.push({ seq, key: String(key), code: code as string });
    const person = (holder as { readonly person: Readonly<Record<string, string>> } | null)?.person;
    if (person)
      facts.resolutions.set(String(resolutionId), {
        seq,
        atMs: Date.parse(String(at)),
        key: String(key),
        person: `${person['documentType']} ${person['documentNumber']}`,
      });
  },
  'breb.directory': (facts, { seq, key }) => {
    facts.changes.push({ seq, key: String(key) });
  },
  'fault.added': (facts, { fault }) => {
    const { id, code } = fault as { readonly id: string; readonly code?: string };
    if (code !== undefined) facts.noteFault(id, code);
  },
  'fault.applied': (facts, { seq, id, operation, fault }) => {
    if (operation === 'order-query' && fault === 'lost-answer') facts.answerLost = true;
    const code = facts.codeOfFault(String(id));
    if (code !== null) facts.rejectedKeys.push({ seq, key: null, code });
  },
};

function toCents(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
