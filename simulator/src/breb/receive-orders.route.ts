import { z } from 'zod';
import type { AnswerDelivery, RailCall } from '../rail-call.ts';
import { BULK_LIMIT, currency, paidAmount, toCents } from '../wire.ts';
import { requireToken } from './access-token.ts';
import { readKey } from './key-type.ts';
import { type IntakeCode, type OrderRow, type OrderStore, storeOrder } from './order.store.ts';
import { TEST_KEYS } from './test-keys.ts';

/** The network limit of 2025: 1,000 UVB. */
const MAX_AMOUNT_CENTS = toCents('11552000.00');

const MESSAGES = {
  '4000': 'the key has no valid format',
  '4013': 'the amount exceeds the network limit',
} as const satisfies Record<IntakeCode, string>;

const ordersBody = z.object({
  orders: z
    .array(
      z.object({
        internalId: z.guid(),
        endToEndId: z.string().regex(/^[A-Z0-9]{1,40}$/, 'must be 1 to 40 of A-Z and 0-9'),
        resolutionId: z.string().min(1).max(100).nullable(),
        initiation: z.literal('KEY'),
        amount: paidAmount,
        currency,
        // Any text: an invalid key is rejected individually and must not fail the other 499.
        creditor: z.object({ key: z.string().max(200) }),
        payer: z.object({
          documentType: z.string().min(1).max(20),
          documentNumber: z.string().min(1).max(40),
          name: z.string().min(1).max(200),
        }),
      }),
    )
    .min(1)
    .max(BULK_LIMIT),
});

type OrderItem = z.infer<typeof ordersBody>['orders'][number];

export const receiveOrders: RailCall<z.infer<typeof ordersBody>> = {
  rail: 'BRE_B',
  operation: 'order',
  schema: ordersBody,
  authenticate: requireToken,
  answer: ({ state }, body, at) => {
    const rows: OrderRow[] = [];
    let delivery: AnswerDelivery = 'sent';
    const results = body.orders.map((item) => {
      const row = toOrderRow(state.orders, item);
      rows.push(row);
      // Stored before the next item is validated: a call may contain the same end-to-end id twice.
      storeOrder(state.orders, row, at);
      const [endToEndId, , , key, , status, code] = row;
      if (status === 'PROCESSING' && TEST_KEYS.get(key)?.losesAnswer === true) delivery = 'lost';
      if (status === 'PROCESSING') return { endToEndId, status };
      if (status === 'DUPLICATE') return { endToEndId, status, code };
      return { endToEndId, status, code, message: MESSAGES[code] };
    });
    return { body: { results }, entry: { at, kind: 'breb.orders', orders: rows }, delivery };
  },
};

/** The end-to-end id alone identifies a duplicate. It is checked first: a known order is not validated again. */
function toOrderRow(store: OrderStore, item: OrderItem): OrderRow {
  const { endToEndId, internalId, resolutionId, amount, creditor } = item;
  const read = readKey(creditor.key);
  const fields = [endToEndId, internalId, resolutionId, read?.key ?? creditor.key, amount] as const;
  if (store.byEndToEndId.has(endToEndId)) return [...fields, 'DUPLICATE', '5001'];
  if (read === null) return [...fields, 'REJECTED', '4000'];
  if (toCents(amount) > MAX_AMOUNT_CENTS) return [...fields, 'REJECTED', '4013'];
  return [...fields, 'PROCESSING', null];
}
