import { readBalance } from '../../flows/ledger/read-balance.ts';
import { balanceView } from '../../ledger/balance.view.ts';
import { merchantOperation } from '../operation.ts';
import { BALANCE_EXAMPLE, balanceSchema } from './ledger.schema.ts';

export const getBalance = merchantOperation({
  method: 'GET',
  path: '/balance',
  operationId: 'getBalance',
  tag: 'Balance',
  summary: 'Get the balance',
  description:
    'Your current balance. The money of a payin is pending from its confirmation until its settlement, and available after that.',
  scope: 'balance:read',
  responses: { 200: { description: 'The balance.', schema: balanceSchema, example: BALANCE_EXAMPLE } },
  problems: [],

  async handle(deps, principal) {
    return { status: 200, body: balanceView(await readBalance(deps, principal)) };
  },
});
