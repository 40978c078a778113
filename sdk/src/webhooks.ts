export {
  handler,
  type ReceiverOptions,
  type ReceiverResult,
  receiver,
  type WebhookRequest,
} from './webhook-handler.ts';
export { type SignedHeaders, sign } from './webhook-signature.ts';
export { type TestDelivery, type TestDeliveryOptions, testDelivery } from './webhook-test-delivery.ts';
export { type UnwrapOptions, unwrap, type WebhookHeaders } from './webhook-unwrap.ts';
