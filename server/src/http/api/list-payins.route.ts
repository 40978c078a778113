import { z } from 'zod';
import { readPayinPage } from '../../flows/read-payins.ts';
import { canonicalJson } from '../../kit/canonical-json.ts';
import type { CursorScope } from '../../kit/cursor.ts';
import { PAYIN_STATUSES } from '../../payins/payin.states.ts';
import { payinListView } from '../../payins/payin.view.ts';
import { RAILS } from '../../rails/contract.ts';
import { text } from '../fields.ts';
import { merchantOperation } from '../operation.ts';
import { PAYIN_EXAMPLE, payinListSchema } from './payin.schema.ts';

const DEFAULT_PAGE_SIZE = 10;

const moment = (about: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .describe(about);

const query = z.strictObject({
  cursor: z
    .string()
    .max(200)
    .optional()
    .describe('`nextCursor` or `previousCursor` of an earlier page of the same list.'),
  pageSize: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(DEFAULT_PAGE_SIZE)
    .describe('Payins per page, 1 to 100.'),
  status: z.enum(PAYIN_STATUSES).optional().describe('Only payins in this state.'),
  rail: z.enum(RAILS).optional().describe('Only payins on this rail.'),
  reference: text(1, 255).optional().describe('Only the payin with this reference.'),
  paymentLinkId: z.uuid().optional().describe('Only payins of this payment link.'),
  createdFrom: moment('Created at or after this moment.').optional(),
  createdTo: moment('Created before this moment.').optional(),
});

export const listPayins = merchantOperation({
  method: 'GET',
  path: '/payins',
  operationId: 'listPayins',
  tag: 'Payins',
  summary: 'List payins',
  description:
    'Newest first. Follow `nextCursor` to older payins and `previousCursor` to newer ones, with the same filters; payins created meanwhile never shift a page. `inlineCustomer` is a string here: the JSON text of the customer.',
  scope: 'payins:read',
  query,
  responses: {
    200: {
      description: 'A page of payins.',
      schema: payinListSchema,
      example: {
        data: [{ ...PAYIN_EXAMPLE, inlineCustomer: JSON.stringify(PAYIN_EXAMPLE.inlineCustomer) }],
        pageInfo: {
          hasNext: true,
          hasPrevious: false,
          nextCursor: 'AAGbLF6POnxBgAE_nSt6bBAx…',
          previousCursor: null,
        },
      },
    },
  },
  problems: ['cursor_invalid'],

  async handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    const { organization } = principal;
    const scope: CursorScope = {
      list: 'payins',
      organizationId: organization.id,
      filters: canonicalJson({
        ...filters,
        createdFrom: filters.createdFrom?.toISOString(),
        createdTo: filters.createdTo?.toISOString(),
      }),
    };
    const position = cursor === undefined ? null : deps.cursors.decode(cursor, scope);
    const page = await readPayinPage(deps, principal, filters, position, pageSize);
    const first = page.payins[0];
    const last = page.payins.at(-1);
    return {
      status: 200,
      body: {
        data: page.payins.map((payin) => payinListView(deps, organization, payin)),
        pageInfo: {
          hasNext: page.hasNext,
          hasPrevious: page.hasPrevious,
          nextCursor:
            page.hasNext && last ? deps.cursors.encode({ direction: 'older', id: last.id }, scope) : null,
          previousCursor:
            page.hasPrevious && first
              ? deps.cursors.encode({ direction: 'newer', id: first.id }, scope)
              : null,
        },
      },
    };
  },
});
