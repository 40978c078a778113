import type { Deps } from '../deps.ts';
import type { Language } from '../kit/error-catalogue.ts';
import type { FieldError } from '../kit/errors.ts';
import type { ValidatedUrl } from '../kit/url-rules.ts';
import { validateWebhookUrl } from '../webhooks/webhook-address.ts';
import { validateCallbackUrl } from './callback-url.ts';
import { fieldError } from './validation.ts';

type Deployment = Pick<Deps, 'environment' | 'webhooksToLoopback'>;

/** A member of a body that is an address: what it may be depends on the deployment, which no schema knows. */
export interface AddressField {
  readonly code: 'invalid_url' | 'invalid_webhook_url';
  readonly judge: (deployment: Deployment, text: string) => ValidatedUrl;
}

export const CALLBACK_ADDRESS: AddressField = {
  code: 'invalid_url',
  judge: ({ environment }, text) => validateCallbackUrl(text, environment),
};

export const WEBHOOK_ADDRESS: AddressField = {
  code: 'invalid_webhook_url',
  judge: ({ environment, webhooksToLoopback }, text) =>
    validateWebhookUrl(text, environment, webhooksToLoopback),
};

/** Every rule that the addresses of a body break. What is no text is the schema's to refuse. */
export function addressErrors(
  deployment: Deployment,
  fields: Readonly<Record<string, AddressField>>,
  body: unknown,
  language: Language,
): FieldError[] {
  const values = Object(body) as Readonly<Record<string, unknown>>;
  return Object.entries(fields).flatMap(([name, { code, judge }]) => {
    const value = values[name];
    const { broken } = typeof value === 'string' ? judge(deployment, value) : { broken: [] };
    return broken.map((rule) => fieldError(name, code, language, `address.${rule}`));
  });
}

/** The form in which an address is kept, of one that `addressErrors` let pass. */
export function serialized({ judge }: AddressField, deployment: Deployment, text: string): string {
  const { href } = judge(deployment, text);
  if (href === null) throw new Error('an address was not judged with its body');
  return href;
}
