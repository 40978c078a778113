const MAX_LENGTH = 2048;
const CONTROL_OR_SPACE = /[\p{Cc}\s]/u;

/** Rules a URL can violate; http/validation.ts has the messages for clients. */
export type UrlRule = 'malformed' | 'length' | 'no_credentials' | 'https' | 'port' | 'public';

/** `href` is the serialized URL, set only when no rule is violated. */
export type ValidatedUrl =
  | { readonly href: string; readonly broken: readonly [] }
  | { readonly href: null; readonly broken: readonly UrlRule[] };

/**
 * Validates a URL from a merchant. It is parsed once by the WHATWG rules and stored in its serialized form, so that the
 * checked URL is the one that is used.
 * @param furtherRules returns the additional rules that the URL violates
 */
export function validateUrl(text: string, furtherRules: (url: URL) => readonly UrlRule[]): ValidatedUrl {
  if (text.length > MAX_LENGTH) return { href: null, broken: ['length'] };
  if (CONTROL_OR_SPACE.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return { href: null, broken: ['malformed'] };
  const url = new URL(text);
  const broken: UrlRule[] = [...furtherRules(url)];
  if (url.username !== '' || url.password !== '') broken.push('no_credentials');
  if (url.href.length > MAX_LENGTH) broken.push('length');
  return broken.length === 0 ? { href: url.href, broken: [] } : { href: null, broken };
}
