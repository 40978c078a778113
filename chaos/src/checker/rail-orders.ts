/** An order of ours that arrived, with what was answered to it. */
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

/** Money that went out. */
export interface SentMoney {
  readonly seq: number;
  readonly endToEndId: string;
  readonly executionId: string;
  readonly key: string;
  readonly cents: bigint;
  /** Though its order had been rejected. */
  readonly anyway: boolean;
}

export interface OrderEnd {
  readonly seq: number;
  readonly endToEndId: string;
  readonly outcome: 'SETTLED' | 'REJECTED';
  readonly code: string | null;
}

/** What the rail answered when it was asked about an order. */
export interface OrderAnswer {
  readonly seq: number;
  readonly atMs: number;
  /** The same moment without the shifts of time. */
  readonly realMs: number;
  readonly endToEndId: string;
  readonly status: string;
}

/** What the directory said of a key. */
interface Resolution {
  readonly key: string;
  readonly resolutionId: string | null;
  readonly person: { readonly documentNumber: string; readonly names: string } | null;
  readonly code: string | null;
}

/** What happened at the rail to payouts, by its own journal. */
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
        for (const row of line['orders'] as OrderRow[]) this.payOrders.push(orderOf(seq, atMs, row));
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
        this.resolutions.push(resolutionOf(line));
        return;
      default:
    }
  }
}

function orderOf(seq: number, atMs: number, row: OrderRow): PayOrder {
  const [endToEndId, internalId, resolutionId, key, amount, answered, code] = row;
  return { seq, atMs, endToEndId, internalId, resolutionId, key, cents: cents(amount), answered, code };
}

function resolutionOf(line: Line): Resolution {
  const holder = line['holder'] as { readonly person: NonNullable<Resolution['person']> } | null | undefined;
  return {
    key: String(line['key']),
    resolutionId: line['resolutionId'] as string | null,
    person: holder?.person ?? null,
    code: line['code'] as string | null,
  };
}

/** Pesos with two decimals, as rails write them. */
export function cents(amount: unknown): bigint {
  const [pesos = '', hundredths = ''] = String(amount).split('.');
  if (!/^\d+$/.test(pesos) || !/^\d{2}$/.test(hundredths))
    throw new Error(`"${String(amount)}" is no amount of a rail`);
  return BigInt(pesos) * 100n + BigInt(hundredths);
}
