import { z } from 'zod';
import { readPayinWithAnomalies } from '../../flows/payins/read-payins.ts';
import { payinView } from '../../payins/payin.view.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
import { anomalyView } from './anomaly.view.ts';
import { PAYIN_EXAMPLE, payinWithAnomalies } from './payin.schema.ts';

export const getPayin = merchantOperation({
  method: 'GET',
  path: '/payins/{id}',
  operationId: 'getPayin',
  tag: 'Payins',
  summary: 'Get a payin',
  description:
    'The payin as it is now. Prefer events over polling. `anomalies` lists what its rail said that its state could not take up, such as a second payment: the state does not change, and the money is held apart until you accept it or the operator returns it.',
  scope: 'payins:read',
  params: z.strictObject({
    id: z.string().describe('Identifier of the payin.').meta({ format: 'uuid', example: PAYIN_EXAMPLE.id }),
  }),
  responses: {
    200: {
      description: 'The payin.',
      schema: payinWithAnomalies,
      example: { ...PAYIN_EXAMPLE, anomalies: [] },
    },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    const { payin, anomalies } = await readPayinWithAnomalies(deps, principal, idIn(params.id));
    return {
      status: 200,
      body: { ...payinView(deps, principal.organization, payin), anomalies: anomalies.map(anomalyView) },
    };
  },
});
