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
  suspended: {
    title: 'Este comercio no puede recibir pagos',
    about: 'Quien opera esta página suspendió a {shop}. Aquí no se puede pagar nada.',
    paidTitle: '¿Ya pagó?',
    paid: 'Su pago queda registrado; no pague otra vez. Guarde el comprobante de su banco. Si no recibe lo que compró, presente el reclamo a su banco.',
    keyTitle: '¿Le dieron una llave o una página del banco y no ha pagado?',
    key: 'No las use: si paga, el dinero le llega a {shop} aunque esté suspendido.',
    warningTitle: 'Suspendimos a este comercio.',
    warning: 'Si no ha pagado, no pague. Si ya pagó, el resultado aparecerá aquí.',
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
  suspended: {
    title: 'This shop cannot receive payments',
    about: 'The operator of this page has suspended {shop}. Nothing can be paid here.',
    paidTitle: 'Have you already paid?',
    paid: 'Your payment is recorded; do not pay again. Keep the receipt of your bank. If you do not receive what you bought, file a claim with your bank.',
    keyTitle: 'Were you given a key or a bank page and have not paid?',
    key: 'Do not use it: if you pay, the money goes to {shop} although it is suspended.',
    warningTitle: 'We have suspended this shop.',
    warning: 'If you have not paid, do not pay. If you have paid, the result will appear here.',
  },
};

export const IDENTITY_MESSAGES = { es: ES, en: EN } as const;
