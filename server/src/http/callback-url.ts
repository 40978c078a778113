import type { Environment } from '../kit/environment.ts';
import { type ValidatedUrl, validateUrl } from '../kit/url-rules.ts';

/** Validates the URL that the checkout returns the payer to. */
export function validateCallbackUrl(text: string, environment: Environment): ValidatedUrl {
  return validateUrl(text, ({ protocol, hostname }) => {
    const local = environment !== 'production' && protocol === 'http:' && isLoopback(hostname);
    return protocol === 'https:' || local ? [] : ['https'];
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
