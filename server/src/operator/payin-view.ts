import type { PayinOverview } from '../flows/payins/show-payin.system.ts';
import { decimalPesos } from '../kit/money.ts';
import { failureCause } from '../rails/contract.ts';

type DetailedPayin = PayinOverview['payin'];

/** A payin for operators, without personal data. */
export function payinJson(payin: DetailedPayin) {
  return {
    id: payin.id,
    organizationId: payin.organization_id,
    organizationName: payin.organization_name,
    status: payin.status,
    settlementStatus: payin.settlement_status,
    errorCode: payin.error_code,
    amountInCents: Number(payin.amount_in_cents),
    confirmedAmountInCents:
      payin.confirmed_amount_in_cents === null ? null : Number(payin.confirmed_amount_in_cents),
    reference: payin.reference,
    paymentLinkId: payin.payment_link_id,
    rail: payin.rail,
    brebKey: payin.breb_key,
    pseBank: payin.pse_bank,
    cus: payin.pse_cus,
    endToEndId: payin.end_to_end_id,
    createdAt: payin.created_at,
    expiresAt: payin.expires_at,
    resultAt: payin.result_at,
  };
}

export function payinLine(payin: DetailedPayin): string {
  const number = payin.breb_key ?? `CUS ${payin.pse_cus ?? 'unknown'}`;
  return `${payin.id}  ${payin.created_at.toISOString()}  ${statusText(payin)}  ${amountText(payin)}  ${payin.rail} ${number}  ${payin.reference}  ${payin.organization_name}`;
}

export function overviewJson(overview: PayinOverview) {
  const { payin, railReference, customer, history, registration, railStatus, anomalies, events } = overview;
  return {
    ...payinJson(payin),
    railReference,
    pseTransactionId: payin.pse_transaction_id,
    customer,
    history,
    keyRegistration: registration,
    railStatus: railStatusJson(railStatus),
    nextWork: nextWork(payin),
    settlesAt: payin.settles_at,
    anomalies: anomalies.map(({ amount, ...anomaly }) => ({
      ...anomaly,
      amountInCents: amount === null ? null : Number(amount),
    })),
    events: events.map(({ event, deliveries }) => ({
      id: event.id,
      event: event.event,
      createdAt: event.created_at,
      deliveries: deliveries.map((delivery) => ({
        deliveryId: delivery.delivery_id,
        endpointId: delivery.endpoint_id,
        status: delivery.status,
        attempts: delivery.attempts,
        nextAttemptAt: delivery.next_attempt_at,
      })),
    })),
  };
}

export function overviewText(overview: PayinOverview): string {
  const { payin, railReference, customer, history, registration, anomalies, events } = overview;
  const next = nextWork(payin);
  return [
    `${statusText(payin)}  ${amountText(payin)}  ${payin.reference}`,
    `organization ${payin.organization_id} (${payin.organization_name})${payin.payment_link_id === null ? '' : `, attempt of link ${payin.payment_link_id}`}`,
    `created ${payin.created_at.toISOString()}, expires ${payin.expires_at.toISOString()}, ended ${time(payin.result_at, 'not yet')}`,
    `${payin.rail} ${railReference}${payin.rail === 'PSE' ? `, bank ${payin.pse_bank ?? ''}, CUS ${payin.pse_cus ?? 'unknown'}, transaction ${payin.pse_transaction_id ?? 'unknown'}` : `, end-to-end id ${payin.end_to_end_id ?? 'unknown'}`}`,
    ...(registration
      ? [`key registered ${time(registration.registeredAt, registration.refusal ?? 'not yet')}`]
      : []),
    `rail status now: ${railStatusText(overview.railStatus)}`,
    `payer ${customer ? `${customer.name}, ${customer.idType} ${customer.idNumber}, ${customer.phone}, ${customer.email}` : 'unknown'}`,
    `settlement ${payin.settlement_status ?? 'none'}${payin.settles_at === null ? '' : `, due ${payin.settles_at.toISOString()}`}`,
    next
      ? `next task: ${next.task} at ${next.dueAt.toISOString()}, attempts so far: ${next.attempts}`
      : 'next task: none',
    'history:',
    ...history.map(({ from, to, cause, at }) => `  ${at.toISOString()}  ${from} → ${to}  ${cause}`),
    anomalies.length === 0 ? 'no anomalies' : 'anomalies:',
    ...anomalies.map(
      ({ id, kind, amount, resolution }) =>
        `  ${id}  ${kind}  ${amount === null ? 'no money' : `COP ${decimalPesos(amount)}`}  ${resolution ?? 'open'}`,
    ),
    events.length === 0 ? 'no events' : 'events:',
    ...events.flatMap(({ event, deliveries }) => [
      `  ${event.created_at.toISOString()}  ${event.event}  ${event.id}`,
      ...deliveries.map(
        (delivery) =>
          `    to ${delivery.endpoint_id}: ${delivery.status}, ${delivery.attempts} attempts${delivery.next_attempt_at === null ? '' : `, next ${delivery.next_attempt_at.toISOString()}`}`,
      ),
    ]),
  ].join('\n');
}

function statusText({ status, error_code }: DetailedPayin): string {
  return `${status}${error_code === null ? '' : ` (${error_code})`}`;
}

function amountText({ amount_in_cents, confirmed_amount_in_cents }: DetailedPayin): string {
  const differs = confirmed_amount_in_cents !== null && confirmed_amount_in_cents !== amount_in_cents;
  return `COP ${decimalPesos(amount_in_cents)}${differs ? ` (paid ${decimalPesos(confirmed_amount_in_cents)})` : ''}`;
}

function nextWork({ rail_task: task, rail_due_at: dueAt, rail_attempts: attempts }: DetailedPayin) {
  return task === null || dueAt === null ? null : { task, dueAt, attempts };
}

function railStatusJson(status: PayinOverview['railStatus']) {
  if (status === null) return null;
  if (status.kind !== 'yes') return { answered: false, cause: failureCause(status) };
  const { state, payments, errorCode } = status.value;
  return {
    answered: true,
    state,
    errorCode,
    payments: payments.map(({ executionId, amount, at }) => ({
      executionId,
      amountInCents: Number(amount),
      at,
    })),
  };
}

function railStatusText(status: PayinOverview['railStatus']): string {
  if (status === null) return 'never sent';
  if (status.kind !== 'yes') return `no clear answer (${failureCause(status)})`;
  const { state, payments } = status.value;
  const listed = payments.map(
    ({ executionId, amount }) => `payment ${executionId} of COP ${decimalPesos(amount)}`,
  );
  return [state, ...listed].join(', ');
}

function time(at: Date | null, fallback: string): string {
  return at?.toISOString() ?? fallback;
}
