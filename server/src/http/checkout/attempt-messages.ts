/** The Spanish texts about running and ended attempts, and about money that arrived unexpectedly. */
const ES = {
  opening: {
    title: 'Abriendo la página de su banco…',
    about: 'Tarda unos segundos. Esta página se actualiza sola.',
    slow: 'Su banco está demorando. Puede seguir esperando o pagar de otra forma.',
  },
  toBank: {
    title: 'Abriendo {bank}…',
    about: 'Si no se abre sola, toque el botón.',
    go: 'Ir a {bank}',
    returned: 'Ya volví del banco',
  },
  bankQuestion: {
    title: '¿Alcanzó a autorizar el pago en {bank}?',
    about: 'Estamos consultando a su banco. Si ya pagó, el resultado aparecerá aquí.',
    yes: 'Sí, ya pagué',
    back: 'No, volver al banco',
  },
  pending: {
    title: 'Su banco está confirmando el pago',
    about: 'Puede tardar unos minutos. No vuelva a pagar: el resultado aparecerá aquí.',
    notPaid: 'No alcancé a pagar',
  },
  otherPayer: {
    title: 'Hay un pago en curso',
    about:
      'Alguien empezó a pagar este link en {bank} desde otro dispositivo. Si fue usted y ya pagó, no vuelva a pagar: el resultado aparecerá aquí.',
  },
  payWithBreb: 'Pagar con Bre-B',
  payWithBrebInstead: 'No, pagar con Bre-B',
  payWithPse: 'Pagar con PSE',
  closing: {
    title: 'Un momento…',
    about: 'Estamos comprobando que no haya un pago en camino. Si ya pagó, el resultado aparecerá aquí.',
  },
  neverSent: {
    title: 'PSE no está disponible en este momento',
    about: 'Su pago no alcanzó a salir hacia el banco.',
  },
  underpaid: {
    title: 'Recibimos {paid} de {amount}',
    about: 'Llegó menos de lo que se cobra, así que el pago no está completo.',
    missing: 'Faltan {missing}. Su pago de {paid} no se ha perdido: pague lo que falta y queda completo.',
    payMissing: 'Pagar {missing}',
    ask: 'Escriba a {shop}: {contact}',
  },
  heldMoney: {
    late: 'Su pago de {amount} llegó tarde',
    lateAbout:
      'Llegó cuando esta forma de pago ya estaba cerrada, así que no completó el cobro. No pague otra vez.',
    again: 'Recibimos otro pago de {amount}',
    againAbout: 'Este cobro ya estaba pagado. No pague otra vez.',
    insist: 'Pagar de todos modos',
  },
  moneyNotes: {
    paid_late: 'Recibimos {amount} tarde',
    paid_again: 'Recibimos otro pago de {amount}',
    overpaid: 'Recibimos {amount} de más',
    underpaid: 'Recibimos {amount}, menos de lo que se cobra',
    held: 'Ese dinero está guardado. {shop} decide si lo acepta o se lo devuelve.',
    credited: '{shop} aceptó ese dinero.',
    returned: 'Ese dinero se está devolviendo.',
  },
} as const;

type Widen<T> = T extends string ? string : { readonly [name in keyof T]: Widen<T[name]> };
export type AttemptMessages = Widen<typeof ES>;

const EN: AttemptMessages = {
  opening: {
    title: 'Opening your bank’s page…',
    about: 'It takes a few seconds. This page updates itself.',
    slow: 'Your bank is slow. You can keep waiting or pay in another way.',
  },
  toBank: {
    title: 'Opening {bank}…',
    about: 'If it does not open by itself, tap the button.',
    go: 'Go to {bank}',
    returned: 'I am back from the bank',
  },
  bankQuestion: {
    title: 'Did you authorize the payment at {bank}?',
    about: 'We are asking your bank. If you have paid, the result appears here.',
    yes: 'Yes, I have paid',
    back: 'No, back to the bank',
  },
  pending: {
    title: 'Your bank is confirming the payment',
    about: 'It may take a few minutes. Do not pay again: the result will appear here.',
    notPaid: 'I did not finish paying',
  },
  otherPayer: {
    title: 'A payment is in progress',
    about:
      'Someone started to pay this link at {bank} on another device. If it was you and you have paid, do not pay again: the result appears here.',
  },
  payWithBreb: 'Pay with Bre-B',
  payWithBrebInstead: 'No, pay with Bre-B',
  payWithPse: 'Pay with PSE',
  closing: {
    title: 'One moment…',
    about: 'We are making sure that no payment is on its way. If you have paid, the result will appear here.',
  },
  neverSent: {
    title: 'PSE is not available right now',
    about: 'Your payment was not sent to the bank.',
  },
  underpaid: {
    title: 'We received {paid} of {amount}',
    about: 'Less arrived than is charged, so the payment is not complete.',
    missing: '{missing} is missing. Your payment of {paid} is not lost: pay the rest to complete it.',
    payMissing: 'Pay {missing}',
    ask: 'Write to {shop}: {contact}',
  },
  heldMoney: {
    late: 'Your payment of {amount} arrived late',
    lateAbout:
      'It arrived when this way to pay was already closed, so it did not complete the charge. Do not pay again.',
    again: 'We received another payment of {amount}',
    againAbout: 'This charge was already paid. Do not pay again.',
    insist: 'Pay anyway',
  },
  moneyNotes: {
    paid_late: 'We received {amount} late',
    paid_again: 'We received another payment of {amount}',
    overpaid: 'We received {amount} too much',
    underpaid: 'We received {amount}, less than is charged',
    held: 'That money is safe. {shop} decides whether to accept or to return it.',
    credited: '{shop} accepted that money.',
    returned: 'That money is being returned.',
  },
};

export const ATTEMPT_MESSAGES: Readonly<Record<'es' | 'en', AttemptMessages>> = { es: ES, en: EN };
