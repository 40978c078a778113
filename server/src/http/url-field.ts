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

/** Lists every rule that the URL fields of a body break. The schema rejects values that are not strings. */
export function urlErrors(
  deployment: Deployment,
  fields: Readonly<Record<string, UrlField>>,
  body: unknown,
  language: Language,
): FieldError[] {
  const values = Object(body) as Readonly<Record<string, unknown>>;
  return Object.entries(fields).flatMap(([name, { code, validate }]) => {
    const value = values[name];
    const { broken } = typeof value === 'string' ? validate(deployment, value) : { broken: [] };
    return broken.map((rule) => fieldError(name, code, language, `url.${rule}`));
  });
}

/** The normalized URL to store. Call it only after `urlErrors` found no error. */
export function serializeUrl({ validate }: UrlField, deployment: Deployment, text: string): string {
  const { href } = validate(deployment, text);
  if (href === null) throw new Error('URL field was not validated with its body');
  return href;
}
