import { z } from 'zod';
import { BANKS } from '../../rails/pse/banks.ts';
import { merchantOperation } from '../operation.ts';

const banks = z
  .strictObject({
    data: z.array(
      z.strictObject({
        code: z.string().describe('Value for `pse.bank`.'),
        name: z.string(),
        available: z
          .boolean()
          .describe(
            'Whether PSE offers the bank today. A payin for an unavailable bank is accepted but will likely be declined.',
          ),
      }),
    ),
  })
  .meta({ id: 'BankList' });

export const listBanks = merchantOperation({
  method: 'GET',
  path: '/pse/banks',
  operationId: 'listPseBanks',
  tag: 'PSE',
  summary: 'List PSE banks',
  description: 'The banks a payer can choose, the most used first.',
  scope: 'payins:read',
  responses: {
    200: {
      description: 'The banks.',
      schema: banks,
      example: { data: [{ code: 'CO_NEQUI', name: 'Nequi', available: true }] },
    },
  },
  problems: [],

  async handle(deps, principal) {
    const offered = await deps.banks.offered(principal);
    const data = BANKS.map(({ code, name, networkCode, available }) => ({
      code,
      name,
      available: available && offered(networkCode),
    }));
    return { status: 200, body: { data } };
  },
});
