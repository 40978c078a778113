/** An order that arrived, with the rail's response. */
export interface PayOrder {
  readonly seq: number;
  /** By the rail's clock, which is never behind the database's. */
  readonly atMs: number;
  readonly endToEndId: string;
  readonly internalId: string;
  readonly resolutionId: string | null;
  readonly key: string;
  readonly cents: bigint;
  readonly answered: 'PROCESSING' | 'DUPLICATE' | 'REJECTED';
  readonly code: string | null;
}

/** An executed payout. */
export interface SentMoney {
  readonly seq: number;
  readonly endToEndId: string;
  readonly executionId: string;
  readonly key: string;
  readonly cents: bigint;
  /** Executed although its order had been rejected. */
  readonly anyway: boolean;
}

export interface OrderEnd {
  readonly seq: number;
  readonly endToEndId: string;
  readonly outcome: 'SETTLED' | 'REJECTED';
  readonly code: string | null;
}

/** The rail's response to a query of an order. */
export interface OrderAnswer {
  readonly seq: number;
  readonly atMs: number;
  /** The same time without time shifts. */
  readonly realMs: number;
  readonly endToEndId: string;
  readonly status: string;
}

/** A response of the directory about a key. */
interface Resolution {
  readonly key: string;
  readonly resolutionId: string | null;
  readonly person: { readonly documentNumber: string; readonly names: string } | null;
  readonly code: string | null;
}

/** What happened to payouts at the rail, according to its journal. */
export interface PayoutFacts {
  readonly payOrders: readonly PayOrder[];
  readonly sentMoney: readonly SentMoney[];
  readonly orderEnds: readonly OrderEnd[];
  readonly orderAnswers: readonly OrderAnswer[];
  readonly resolutions: readonly Resolution[];
}

interface Line {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

type OrderRow = readonly [
  endToEndId: string,
  internalId: string,
  resolutionId: string | null,
  key: string,
  amount: string,
  answered: PayOrder['answered'],
  code: string | null,
];

export class OrderFacts implements PayoutFacts {
  readonly payOrders: PayOrder[] = [];
  readonly sentMoney: SentMoney[] = [];
  readonly orderEnds: OrderEnd[] = [];
  readonly orderAnswers: OrderAnswer[] = [];
  readonly resolutions: Resolution[] = [];

  take(line: Line, realMs: number): void {
    const { seq } = line;
    const atMs = Date.parse(line.at);
    switch (line.kind) {
      case 'breb.orders':
        for (const row of line['orders'] as OrderRow[]) this.payOrders.push(toPayOrder(seq, atMs, row));
        return;
      case 'breb.executed':
        this.sentMoney.push({
          seq,
          endToEndId: String(line['endToEndId']),
          executionId: String(line['executionId']),
          key: String(line['key']),
          cents: cents(line['amount']),
          anyway: line['anyway'] === true,
        });
        return;
      case 'breb.order-ended':
        this.orderEnds.push({
          seq,
          endToEndId: String(line['endToEndId']),
          outcome: line['outcome'] as OrderEnd['outcome'],
          code: line['code'] as string | null,
        });
        return;
      case 'breb.order-query':
        for (const [endToEndId, , status] of line['results'] as [string | null, string | null, string][])
          if (endToEndId !== null) this.orderAnswers.push({ seq, atMs, realMs, endToEndId, status });
        return;
      case 'breb.resolve':
        this.resolutions.push(toResolution(line));
        return;
      default:
    }
  }
}

function toPayOrder(seq: number, atMs: number, row: OrderRow): PayOrder {
  const [endToEndId, internalId, resolutionId, key, amount, answered, code] = row;
  return { seq, atMs, endToEndId, internalId, resolutionId, key, cents: cents(amount), answered, code };
}

function toResolution(line: Line): Resolution {
  const holder = line['holder'] as { readonly person: NonNullable<Resolution['person']> } | null | undefined;
  return {
    key: String(line['key']),
    resolutionId: line['resolutionId'] as string | null,
    person: holder?.person ?? null,
    code: line['code'] as string | null,
  };
}

/** Parses pesos with two decimals, the format of the rails. */
export function cents(amount: unknown): bigint {
  const [pesos = '', hundredths = ''] = String(amount).split('.');
  if (!/^\d+$/.test(pesos) || !/^\d{2}$/.test(hundredths))
    throw new Error(`"${String(amount)}" is not an amount in pesos with two decimals`);
  return BigInt(pesos) * 100n + BigInt(hundredths);
}
