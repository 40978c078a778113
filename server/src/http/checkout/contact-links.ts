/** A way to reach a shop or the operator. A contact of an unknown form is plain text, without a link. */
export interface ContactLink {
  readonly kind: 'mail' | 'phone' | 'whatsapp' | 'web' | 'text';
  /** The contact as the operator wrote it; the host of a URL. */
  readonly text: string;
  readonly href: string | null;
}

const MAIL = /^[^\s@<>"'?&%#]+@[^\s@<>"'?&%#]+\.[\p{L}]{2,}$/u;
const COLOMBIAN_MOBILE = /^(?:\+?57)?(3\d{9})$/;
const COLOMBIAN_LANDLINE = /^(?:\+?57)?(60\d{8})$/;
const OTHER_NUMBER = /^(?:\+\d{7,15}|\d{7,12})$/;

/**
 * Splits a support contact at commas and semicolons.
 * @param topic first line of a message, such as the reference of the payment; null: none
 */
export function contactLinks(contact: string, topic: string | null): readonly ContactLink[] {
  return contact
    .split(/[,;]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .flatMap((part) => toLinks(part, topic));
}

function toLinks(text: string, topic: string | null): readonly ContactLink[] {
  if (MAIL.test(text)) return [{ kind: 'mail', text, href: `mailto:${text}${query('subject', topic)}` }];
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (url.protocol === 'https:') return [{ kind: 'web', text: url.host, href: url.href }];
  }
  const digits = text.replace(/[\s().-]/g, '');
  const [, mobile] = COLOMBIAN_MOBILE.exec(digits) ?? [];
  if (mobile !== undefined)
    return [
      { kind: 'phone', text, href: `tel:+57${mobile}` },
      { kind: 'whatsapp', text, href: `https://wa.me/57${mobile}${query('text', topic)}` },
    ];
  const [, landline] = COLOMBIAN_LANDLINE.exec(digits) ?? [];
  if (landline !== undefined) return [{ kind: 'phone', text, href: `tel:+57${landline}` }];
  if (OTHER_NUMBER.test(digits)) return [{ kind: 'phone', text, href: `tel:${digits}` }];
  return [{ kind: 'text', text, href: null }];
}

function query(name: string, value: string | null): string {
  return value === null ? '' : `?${name}=${encodeURIComponent(value)}`;
}
