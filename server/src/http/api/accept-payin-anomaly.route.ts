import { z } from 'zod';
import { acceptAnomaly } from '../../flows/payins/accept-anomaly.ts';
import { createdReply, merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { anomalyView } from './anomaly.view.ts';
import { PAYIN_ANOMALY_EXAMPLE, PAYIN_EXAMPLE, payinAnomalySchema } from './payin.schema.ts';

export const acceptPayinAnomaly = merchantOperation({
  method: 'POST',
  path: '/payins/{id}/anomalies/{anomalyId}/accept',
  operationId: 'acceptPayinAnomaly',
  tag: 'Payins',
  summary: 'Accept the money of an anomaly',
  description:
    'Accepts money that is held separately, such as the amount of an `UNDERPAID` payin or an excess payment. The money is credited to your available balance within seconds. The status of the payin does not change and no event is sent. If the money is being returned or the anomaly is already resolved, the response is 409 `anomaly_resolved`. To return the money to the payer instead, contact the operator.',
  scope: 'payins:write',
  idempotent: true,
  params: z.strictObject({
    id: idParameter('Identifier of the payin.', PAYIN_EXAMPLE.id),
    anomalyId: idParameter(
      'Identifier of the anomaly, from `anomalies[].id` of the payin.',
      PAYIN_ANOMALY_EXAMPLE.id,
    ),
  }),
  responses: {
    201: {
      description: 'The accepted anomaly.',
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

  async handle(deps, principal, { params, idempotency }) {
    const path = { payinId: parseId(params.id), id: parseId(params.anomalyId) };
    const accepted = await acceptAnomaly(deps, principal, path, idempotency?.key ?? null);
    return createdReply(accepted, anomalyView(accepted.anomaly));
  },
});
