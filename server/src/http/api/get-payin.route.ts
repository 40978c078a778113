import { z } from 'zod';
import { readPayinWithAnomalies } from '../../flows/payins/read-payins.ts';
import { payinView } from '../../payins/payin.view.ts';
import { merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { anomalyView } from './anomaly.view.ts';
import { PAYIN_EXAMPLE, payinWithAnomalies } from './payin.schema.ts';

export const getPayin = merchantOperation({
  method: 'GET',
  path: '/payins/{id}',
  operationId: 'getPayin',
  tag: 'Payins',
  summary: 'Get a payin',
  description:
    'The current state of the payin. Prefer events over polling. `anomalies` lists reports from the rail that do not fit the status of the payin, such as a second payment: the status does not change, and the money is held separately until you accept it or the operator returns it.',
  scope: 'payins:read',
  params: z.strictObject({
    id: idParameter('Identifier of the payin.', PAYIN_EXAMPLE.id),
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
    const { payin, anomalies } = await readPayinWithAnomalies(deps, principal, parseId(params.id));
    return {
      status: 200,
      body: { ...payinView(deps, principal.organization, payin), anomalies: anomalies.map(anomalyView) },
    };
  },
});
