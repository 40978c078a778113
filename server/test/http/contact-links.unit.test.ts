import { describe, expect, it } from 'vitest';
import { contactLinks } from '../../src/http/checkout/contact-links.ts';

const hrefs = (contact: string, topic: string | null = null) =>
  contactLinks(contact, topic).map(({ kind, href }) => [kind, href]);

describe('contactLinks', () => {
  it.each([
    ['ayuda@aurora.example', [['mail', 'mailto:ayuda@aurora.example']]],
    [
      '+57 300 123 4567',
      [
        ['phone', 'tel:+573001234567'],
        ['whatsapp', 'https://wa.me/573001234567'],
      ],
    ],
    [
      '300 123 45 67',
      [
        ['phone', 'tel:+573001234567'],
        ['whatsapp', 'https://wa.me/573001234567'],
      ],
    ],
    ['(601) 742-0000', [['phone', 'tel:+576017420000']]],
    ['01 8000 123 456', [['phone', 'tel:018000123456']]],
    ['https://aurora.example/ayuda', [['web', 'https://aurora.example/ayuda']]],
    ['lunes a viernes', [['text', null]]],
  ])('links %s', (contact, expected) => expect(hrefs(contact)).toEqual(expected));

  it('links each contact of a list', () => {
    expect(hrefs('a@b.co, (601) 742-0000').map(([kind]) => kind)).toEqual(['mail', 'phone']);
  });

  it('carries the topic, encoded, in messages only', () => {
    expect(hrefs('a@b.co; 3001234567', 'Pago 7 & más')).toEqual([
      ['mail', 'mailto:a@b.co?subject=Pago%207%20%26%20m%C3%A1s'],
      ['phone', 'tel:+573001234567'],
      ['whatsapp', 'https://wa.me/573001234567?text=Pago%207%20%26%20m%C3%A1s'],
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'http://aurora.example',
    'data:text/html,<b>',
    'a@b.co?bcc=x@y.co',
    '"><img src=x>@b.co',
  ])('makes no link from %s', (contact) => {
    for (const [, href] of hrefs(contact)) expect(href).toBeNull();
  });
});
