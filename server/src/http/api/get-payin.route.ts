import { z } from 'zod';
import { readPayin } from '../../flows/read-payins.ts';
import { Fault } from '../../kit/errors.ts';
import { isUuid } from '../../kit/ids.ts';
import { payinView } from '../../payins/payin.view.ts';
import { merchantOperation } from '../operation.ts';
import { PAYIN_EXAMPLE, payinSchema } from './payin.schema.ts';

export const getPayin = merchantOperation({
  method: 'GET',
  path: '/payins/{id}',
  operationId: 'getPayin',
  tag: 'Payins',
  summary: 'Get a payin',
  description: 'The payin as it is now. Prefer events over polling.',
  scope: 'payins:read',
  params: z.strictObject({
    id: z.string().describe('Identifier of the payin.').meta({ format: 'uuid', example: PAYIN_EXAMPLE.id }),
  }),
  responses: { 200: { description: 'The payin.', schema: payinSchema, example: PAYIN_EXAMPLE } },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    // What is no identifier names nothing: the same answer as an unknown one.
    const id = params.id.toLowerCase();
    if (!isUuid(id)) throw new Fault('not_found');
    const payin = await readPayin(deps, principal, id);
    return { status: 200, body: payinView(deps, principal.organization, payin) };
  },
});
