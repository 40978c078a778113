import { z } from 'zod';
import { readPayout } from '../../flows/payouts/read-payouts.ts';
import { payoutView } from '../../payouts/payout.view.ts';
import { merchantOperation } from '../operation.ts';
import { idParameter, parseId } from '../path-id.ts';
import { anomalyView } from './anomaly.view.ts';
import { PAYOUT_EXAMPLE, payoutWithAnomalies } from './payout.schema.ts';

export const payoutPath = z.strictObject({
  id: idParameter('Identifier of the payout.', PAYOUT_EXAMPLE.id),
});

export const getPayout = merchantOperation({
  method: 'GET',
  path: '/payouts/{id}',
  operationId: 'getPayout',
  tag: 'Payouts',
  summary: 'Get a payout',
  description:
    'The current state of the payout. Prefer events over polling. `anomalies` lists reports from the rail that do not fit the status of the payout: the status does not change, and an operator investigates.',
  scope: 'payouts:read',
  params: payoutPath,
  responses: {
    200: {
      description: 'The payout.',
      schema: payoutWithAnomalies,
      example: { ...PAYOUT_EXAMPLE, anomalies: [] },
    },
  },
  problems: ['not_found'],

  async handle(deps, principal, { params }) {
    const { payout, anomalies } = await readPayout(deps, principal, parseId(params.id));
    return { status: 200, body: { ...payoutView(payout), anomalies: anomalies.map(anomalyView) } };
  },
});
