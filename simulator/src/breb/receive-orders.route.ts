import { z } from 'zod';
import type { AnswerFate, RailCall } from '../rail-call.ts';
import { BULK_LIMIT, currency, paidAmount, toCents } from '../wire.ts';
import { refuseWithoutToken } from './access-token.ts';
import { readKey } from './key-type.ts';
import { type IntakeCode, type OrderRow, type OrderStore, storeOrder } from './order.store.ts';
import { TEST_KEYS } from './test-keys.ts';

/** Dated data of the network (2025): 1,000 UVB. */
const LARGEST_CENTS = toCents('11552000.00');

const MESSAGES = {
  '4000': 'the key has no valid format',
  '4013': 'the amount is over the limit of the network',
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
        // Any text: a bad key is refused alone and must not take 499 good ones with it.
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

export const takeOrders: RailCall<z.infer<typeof ordersBody>> = {
  rail: 'BRE_B',
  operation: 'order',
  schema: ordersBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, body, at) => {
    const rows: OrderRow[] = [];
    let fate: AnswerFate = 'sent';
    const results = body.orders.map((item) => {
      const row = judge(state.orders, item);
      rows.push(row);
      // Stored before the next one is judged: an end-to-end id may stand twice in one call.
      storeOrder(state.orders, row, at);
      const [endToEndId, , , key, , status, code] = row;
      if (status === 'PROCESSING' && TEST_KEYS.get(key)?.losesAnswer === true) fate = 'lost';
      if (status === 'PROCESSING') return { endToEndId, status };
      if (status === 'DUPLICATE') return { endToEndId, status, code };
      return { endToEndId, status, code, message: MESSAGES[code] };
    });
    return { body: { results }, entry: { at, kind: 'breb.orders', orders: rows }, fate };
  },
};

/** The end-to-end id alone makes a duplicate, and before all else: what is known is never judged again. */
function judge(store: OrderStore, item: OrderItem): OrderRow {
  const { endToEndId, internalId, resolutionId, amount, creditor } = item;
  const read = readKey(creditor.key);
  const carried = [endToEndId, internalId, resolutionId, read?.key ?? creditor.key, amount] as const;
  if (store.byEndToEndId.has(endToEndId)) return [...carried, 'DUPLICATE', '5001'];
  if (read === null) return [...carried, 'REJECTED', '4000'];
  if (toCents(amount) > LARGEST_CENTS) return [...carried, 'REJECTED', '4013'];
  return [...carried, 'PROCESSING', null];
}
