import type { Deps } from '../deps.ts';
import type { Language } from '../kit/error-catalogue.ts';
import { readWebhookUrl } from '../webhooks/webhook-address.ts';
import { fieldError, invalidRequest } from './validation.ts';

/** @throws Fault `invalid_request` for an address to which nothing is sent */
export function webhookUrl(
  { environment, webhooksToLoopback }: Pick<Deps, 'environment' | 'webhooksToLoopback'>,
  text: string,
  language: Language,
): string {
  const url = readWebhookUrl(text, environment, webhooksToLoopback);
  if (url === null) throw invalidRequest([fieldError('url', 'invalid_webhook_url', language)]);
  return url;
}
