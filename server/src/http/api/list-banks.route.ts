import { z } from 'zod';
import { BANKS } from '../../rails/pse/banks.ts';
import { merchantOperation } from '../operation.ts';

const banks = z
  .strictObject({
    data: z.array(
      z.strictObject({
        code: z.string().describe('Goes into `pse.bank`.'),
        name: z.string(),
        available: z.boolean(),
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
  description: 'The banks a payer can choose, those people look for first in front.',
  scope: 'payins:read',
  responses: {
    200: {
      description: 'The banks.',
      schema: banks,
      example: { data: [{ code: 'CO_NEQUI', name: 'Nequi', available: true }] },
    },
  },
  problems: [],

  handle() {
    return Promise.resolve({
      status: 200,
      body: { data: BANKS.map(({ code, name, available }) => ({ code, name, available })) },
    });
  },
});
