import { setImmediate as soon } from 'node:timers/promises';
import type { Customer } from '../../../server/src/customers/customer.ts';
import { encryptValue } from '../../../server/src/db/columns.ts';
import type { SystemDeps } from '../../../server/src/deps.ts';
import { encryptPayload } from '../../../server/src/events/event.encryption.ts';
import { eventBody } from '../../../server/src/events/event.ts';
import { uuidBytes, uuidv7 } from '../../../server/src/kit/ids.ts';
import type { KeyRing } from '../../../server/src/kit/key-ring.ts';
import { cents } from '../../../server/src/kit/money.ts';
import { mintBrebKey } from '../../../server/src/payins/breb-key.ts';
import { payinEventData } from '../../../server/src/payins/payin.event.ts';
import type { PayinSource } from '../../../server/src/payins/payin.ts';

export interface Owner {
  readonly organizationId: string;
  readonly dataKey: KeyRing;
}

/** Payins of one month, evenly spaced. */
export interface Span {
  /** Number of the first payin: references are numbered across all months. */
  readonly firstNumber: number;
  readonly startMs: number;
  readonly stepMs: number;
}

export const AMOUNT = 4_980_000;
export const STATUSES = ['CONFIRMED', 'CANCELED', 'DECLINED'] as const;
/** Time between the creation and the end of a payin. */
export const PAID_AFTER_MS = 30_000;

const CUSTOMER: Customer = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana.rojas@example.com',
};

const ENCRYPTION_OVERHEAD_BYTES = 29;
const KEY_BYTES = 20;
const MAX_PAYLOAD_BYTES = 1100;
const CUSTOMER_BYTES = Buffer.byteLength(JSON.stringify(CUSTOMER)) + ENCRYPTION_OVERHEAD_BYTES;

/** Byte offsets of the columns in a generated row: a format that SQL can split without parsing. */
export const ROW = (() => {
  const id = 0;
  const owner = id + 16;
  const status = owner + 1;
  const pse = status + 1;
  const eventId = pse + 1;
  const key = eventId + 16;
  const customer = key + KEY_BYTES;
  const payloadLength = customer + CUSTOMER_BYTES;
  const payload = payloadLength + 2;
  const bytes = payload + MAX_PAYLOAD_BYTES;
  return {
    id,
    owner,
    status,
    pse,
    eventId,
    key,
    keyBytes: KEY_BYTES,
    customer,
    customerBytes: CUSTOMER_BYTES,
    payloadLength,
    payload,
    bytes,
  };
})();

export function toReference(number: number): string {
  return `order-${String(number).padStart(10, '0')}`;
}

/** The first owner gets eight of ten payins; the others share the rest. */
function ownerIndexFor(number: number, owners: number): number {
  const turn = number % 10;
  return turn < 8 || owners === 1 ? 0 : 1 + (Math.floor(number / 10) % (owners - 1));
}

/** Of twenty: seventeen confirmed, two canceled, one declined. */
function statusIndexFor(number: number): number {
  const turn = Math.floor(number / 10) % 20;
  return turn === 0 ? 2 : turn < 3 ? 1 : 0;
}

function isPse(number: number): boolean {
  return Math.floor(number / 7) % 20 === 0;
}

const CREATED = new Date(0).toISOString();
const ENDED = new Date(PAID_AFTER_MS).toISOString();
const GAPS = new RegExp(`(%event|%id|%reference|%key|%organization|${CREATED}|${ENDED})`);
const YIELD_EVERY = 250;

/** Generates payin rows: ids, keys, and values that are encrypted per row. */
export class RowMaker {
  readonly #deps: Pick<SystemDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens' | 'brebKeyPrefix'>;
  readonly #owners: readonly Owner[];
  readonly #samples = new Map<string, readonly string[]>();

  constructor(
    deps: Pick<SystemDeps, 'cell' | 'checkoutUrl' | 'checkoutTokens' | 'brebKeyPrefix'>,
    owners: readonly Owner[],
  ) {
    this.#deps = deps;
    this.#owners = owners;
  }

  /** @param from index of the first row in its month */
  async make(span: Span, from: number, count: number): Promise<Buffer> {
    const rows = Buffer.alloc(count * ROW.bytes);
    for (let index = 0; index < count; index += 1) {
      // Yields to the event loop, so that the previous statement can be sent to the database meanwhile.
      if (index % YIELD_EVERY === 0) await soon();
      this.#write(rows.subarray(index * ROW.bytes, (index + 1) * ROW.bytes), span, from + index);
    }
    return rows;
  }

  #write(row: Buffer, span: Span, place: number): void {
    const number = span.firstNumber + place;
    const atMs = span.startMs + place * span.stepMs;
    const ownerIndex = ownerIndexFor(number, this.#owners.length);
    const owner = this.#owners[ownerIndex];
    if (!owner) throw new Error('no such owner');
    const { organizationId, dataKey } = owner;
    const id = uuidv7(atMs, this.#deps.cell);
    const eventId = uuidv7(atMs + PAID_AFTER_MS, this.#deps.cell);
    const pse = isPse(number);
    const key = mintBrebKey(this.#deps.brebKeyPrefix, this.#deps.cell, atMs);
    uuidBytes(id).copy(row, ROW.id);
    row[ROW.owner] = ownerIndex;
    row[ROW.status] = statusIndexFor(number);
    row[ROW.pse] = pse ? 1 : 0;
    uuidBytes(eventId).copy(row, ROW.eventId);
    row.write(key, ROW.key, 'latin1');
    const customer = encryptValue('payins', 'customer', { organizationId, id }, CUSTOMER, dataKey);
    if (customer.length !== CUSTOMER_BYTES) throw new Error('unexpected length of an encrypted customer');
    customer.copy(row, ROW.customer);
    const body = this.#payload({ id, eventId, organizationId, number, atMs, pse, key });
    const payload = encryptPayload(dataKey, body, organizationId, eventId);
    if (payload.length > MAX_PAYLOAD_BYTES) throw new Error(`payload too large: ${payload.length} bytes`);
    row.writeUInt16BE(payload.length, ROW.payloadLength);
    payload.copy(row, ROW.payload);
  }

  /** Fills the values of the row into a template: rendering each payload would take half of the load time. */
  #payload(row: {
    id: string;
    eventId: string;
    organizationId: string;
    number: number;
    atMs: number;
    pse: boolean;
    key: string;
  }): string {
    const values: Readonly<Record<string, string>> = {
      '%event': row.eventId,
      '%id': row.id,
      '%reference': toReference(row.number),
      '%key': row.key,
      '%organization': row.organizationId,
      [CREATED]: new Date(row.atMs).toISOString(),
      [ENDED]: new Date(row.atMs + PAID_AFTER_MS).toISOString(),
    };
    let text = '';
    for (const [index, piece] of this.#sample(statusIndexFor(row.number), row.pse).entries())
      text += index % 2 === 0 ? piece : (values[piece] ?? '');
    return text;
  }

  /** Template of a payload: text and placeholder names, alternating. */
  #sample(status: number, pse: boolean): readonly string[] {
    const kind = `${status}/${pse}`;
    const known = this.#samples.get(kind);
    if (known !== undefined) return known;
    const statusName = STATUSES[status] ?? 'CONFIRMED';
    const source: PayinSource = pse
      ? { rail: 'PSE', bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL', page: null }
      : { rail: 'BRE_B', keyType: 'SINGLE_USE', key: '%key' };
    const token = payinEventData(this.#deps, 1, {
      id: '01990000-0000-7000-8000-000000000000',
      organizationId: '%organization',
      amount: cents(BigInt(AMOUNT)),
      confirmedAmount: statusName === 'CONFIRMED' ? cents(BigInt(AMOUNT)) : null,
      status: statusName,
      settlementStatus: null,
      errorCode: statusName === 'CONFIRMED' ? null : statusName === 'DECLINED' ? 'RAIL_REJECTED' : 'EXPIRED',
      reference: '%reference',
      paymentLinkId: null,
      customer: null,
      metadata: null,
      callbackUrl: null,
      traceContext: null,
      source,
      endToEndId: null,
      createdAt: new Date(0),
      updatedAt: new Date(PAID_AFTER_MS),
      expiresAt: new Date(3_600_000),
      resultAt: new Date(PAID_AFTER_MS),
      chargebackAt: null,
    });
    const event = `payin.${statusName.toLowerCase()}`;
    const data = { ...token, id: '%id' };
    const text = eventBody({
      id: '%event',
      event,
      resource: 'payin',
      createdAt: new Date(PAID_AFTER_MS),
      data,
    });
    const pieces = text.split(GAPS);
    this.#samples.set(kind, pieces);
    return pieces;
  }
}
