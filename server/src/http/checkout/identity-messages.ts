/** Texts about the shop and the operator. `formatMessage` replaces the `{…}` placeholders. */
const ES = {
  chargedBy: 'Cobra: {identity}',
  operatedBy: 'Opera esta página: {identity}',
  preview: 'Pago a {shop}',
  terms: 'Términos',
  privacy: 'Privacidad',
  help: {
    from: 'Ayuda de {name}:',
    topic: 'Pago {reference}',
    mail: 'Escriba a {contact}',
    phone: 'Llame al {contact}',
    whatsapp: 'Escriba por WhatsApp',
    web: 'Visite {contact}',
    text: '{contact}',
  },
};

export type IdentityMessages = typeof ES;

const EN: IdentityMessages = {
  chargedBy: 'Charged by: {identity}',
  operatedBy: 'This page is operated by: {identity}',
  preview: 'Payment to {shop}',
  terms: 'Terms',
  privacy: 'Privacy',
  help: {
    from: 'Help from {name}:',
    topic: 'Payment {reference}',
    mail: 'Write to {contact}',
    phone: 'Call {contact}',
    whatsapp: 'Write on WhatsApp',
    web: 'Visit {contact}',
    text: '{contact}',
  },
};

export const IDENTITY_MESSAGES = { es: ES, en: EN } as const;
