/** Texts about the shop and the operator. `formatMessage` replaces the `{…}` placeholders. */
const ES = {
  chargedBy: 'Cobra: {identity}',
  operatedBy: 'Opera esta página: {identity}',
  terms: 'Términos',
  privacy: 'Privacidad',
};

export type IdentityMessages = typeof ES;

const EN: IdentityMessages = {
  chargedBy: 'Charged by: {identity}',
  operatedBy: 'This page is operated by: {identity}',
  terms: 'Terms',
  privacy: 'Privacy',
};

export const IDENTITY_MESSAGES = { es: ES, en: EN } as const;
