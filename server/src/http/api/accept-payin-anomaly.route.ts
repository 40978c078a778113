import { z } from 'zod';
import { acceptAnomaly } from '../../flows/payins/accept-anomaly.ts';
import { merchantOperation } from '../operation.ts';
import { idIn } from '../path-id.ts';
import { anomalyView } from './anomaly.view.ts';
import { PAYIN_ANOMALY_EXAMPLE, PAYIN_EXAMPLE, payinAnomalySchema } from './payin.schema.ts';

export const acceptPayinAnomaly = merchantOperation({
  method: 'POST',
  path: '/payins/{id}/anomalies/{anomalyId}/accept',
  operationId: 'acceptPayinAnomaly',
  tag: 'Payins',
  summary: 'Accept the money of an anomaly',
  description:
    'Takes money that is held apart, such as what arrived for an `UNDERPAID` payin or beyond its amount: it is credited to your available balance within seconds. The state of the payin does not change and there is no event. Money that is being returned, or that was decided about before, is 409 `anomaly_resolved`. To have it returned to the payer instead, ask the operator.',
  scope: 'payins:write',
  idempotent: true,
  params: z.strictObject({
    id: z.string().describe('Identifier of the payin.').meta({ format: 'uuid', example: PAYIN_EXAMPLE.id }),
    anomalyId: z
      .string()
      .describe('Identifier of the anomaly: `anomalies[].id` of the payin.')
      .meta({ format: 'uuid', example: PAYIN_ANOMALY_EXAMPLE.id }),
  }),
  responses: {
    201: {
      description: 'The anomaly, accepted.',
      schema: payinAnomalySchema,
      example: { ...PAYIN_ANOMALY_EXAMPLE, status: 'ACCEPTED' },
    },
  },
  problems: [
    'not_found',
    'anomaly_resolved',
    'anomaly_without_money',
    'idempotency_mismatch',
    'outcome_unknown',
  ],

  async handle(deps, principal, { params, idempotencyKey }) {
    const path = { payinId: idIn(params.id), id: idIn(params.anomalyId) };
    const { anomaly, replayed } = await acceptAnomaly(deps, principal, path, idempotencyKey);
    return {
      status: 201,
      body: anomalyView(anomaly),
      ...(replayed ? { headers: { 'idempotent-replayed': 'true' } } : {}),
    };
  },
});
