/** A program that compiles only if the generated types know every event and the fields of its `data`. */
const READ_EVENT = `export function read(event: Event): string {
  switch (event.event) {
    case 'payin.confirmed':
      return event.data.reference + String(event.data.confirmedAmountInCents);
    case 'payout.declined':
      return event.data.errorCode ?? event.data.reference;
    case 'paymentlink.completed':
      return event.data.paymentLinkId;
    case 'api_key.used_from_new_network':
      return event.data.apiKeyId;
    default:
      return event.id;
  }
}
export const status = (delivery: Delivery): 'CONFIRMED' => delivery.data.status;
// @ts-expect-error a payout has no payment link
export const wrong = (event: Extract<Event, { event: 'payout.confirmed' }>) => event.data.paymentLinkId;
`;

export const WITH_OPENAPI_TYPESCRIPT = `import type { components, webhooks } from './client.js';
type Event = components['schemas']['Event'];
type Delivery = webhooks['payin.confirmed']['post']['requestBody']['content']['application/json'];
${READ_EVENT}`;

export const WITH_HEY_API = `import type { Event, ReceivePayinConfirmedWebhookPayload as Delivery } from './client/types.gen';
${READ_EVENT}`;
