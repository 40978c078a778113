import type { Deps } from '../deps.ts';
import type { Language } from '../kit/error-catalogue.ts';
import type { FieldError } from '../kit/errors.ts';
import type { ValidatedUrl } from '../kit/url-rules.ts';
import { validateWebhookUrl } from '../webhooks/webhook-address.ts';
import { validateCallbackUrl } from './callback-url.ts';
import type { UrlFieldCode } from './fields.ts';
import { fieldError } from './validation.ts';

type Deployment = Pick<Deps, 'environment' | 'webhooksAllowLoopback'>;

/** A URL field of a request body. Its rules depend on the deployment, so the static schema cannot check them. */
export interface UrlField {
  readonly code: UrlFieldCode;
  readonly validate: (deployment: Deployment, text: string) => ValidatedUrl;
}

export const CALLBACK_URL: UrlField = {
  code: 'invalid_url',
  validate: ({ environment }, text) => validateCallbackUrl(text, environment),
};

export const WEBHOOK_URL: UrlField = {
  code: 'invalid_webhook_url',
  validate: ({ environment, webhooksAllowLoopback }, text) =>
    validateWebhookUrl(text, environment, webhooksAllowLoopback),
};

/**
 * Checks the URL fields of a body. The schema rejects values that are not strings.
 * @returns the body with normalized URLs, and every rule that a URL breaks
 */
export function readUrls(
  deployment: Deployment,
  fields: Readonly<Record<string, UrlField>>,
  body: unknown,
  language: Language,
): { normalized: unknown; errors: FieldError[] } {
  const values = Object(body) as Readonly<Record<string, unknown>>;
  const hrefs: Record<string, string> = {};
  const errors: FieldError[] = [];
  for (const [name, { code, validate }] of Object.entries(fields)) {
    const value = values[name];
    if (typeof value !== 'string') continue;
    const { href, broken } = validate(deployment, value);
    if (href !== null) hrefs[name] = href;
    errors.push(...broken.map((rule) => fieldError(name, code, language, `url.${rule}`)));
  }
  return { normalized: Object.keys(hrefs).length === 0 ? body : { ...values, ...hrefs }, errors };
}
