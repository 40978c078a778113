const LONGEST = 2048;
const CONTROL_OR_SPACE = /[\p{Cc}\s]/u;

/** What an address can break; people are told which (http/validation.ts). */
export type AddressRule = 'whole' | 'length' | 'anonymous' | 'https' | 'port' | 'public';

/** `href` is the address in its serialized form, and there only when no rule is broken. */
export type ValidatedUrl =
  | { readonly href: string; readonly broken: readonly [] }
  | { readonly href: null; readonly broken: readonly AddressRule[] };

/**
 * An address that a merchant gave, parsed once by the WHATWG rules and kept in its serialized form, so that what was
 * checked is what is used.
 * @param furtherRules those of its use that it breaks
 */
export function validateUrl(text: string, furtherRules: (url: URL) => readonly AddressRule[]): ValidatedUrl {
  if (text.length > LONGEST) return { href: null, broken: ['length'] };
  if (CONTROL_OR_SPACE.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return { href: null, broken: ['whole'] };
  const url = new URL(text);
  const broken: AddressRule[] = [...furtherRules(url)];
  if (url.username !== '' || url.password !== '') broken.push('anonymous');
  if (url.href.length > LONGEST) broken.push('length');
  return broken.length === 0 ? { href: url.href, broken: [] } : { href: null, broken };
}
