/** The Spanish texts of the page frame and of pages without a payment. */
const ES = {
  connection: {
    lost: 'Sin conexión con nosotros; seguimos intentando.',
    offline: 'Su dispositivo no tiene internet; esta página se actualizará cuando vuelva.',
    unsent: 'Su dispositivo no tiene internet: no se envió nada. Intente de nuevo cuando vuelva.',
  },
  leaving: { soon: 'Volverá a {shop} en {seconds} s.', stay: 'Quedarme aquí' },
  /** None of these texts says that no money moved: an error page has not read the payment. */
  broken: {
    title: 'No pudimos consultar su pago',
    unread: 'Si ya pagó, no vuelva a pagar: esta página se actualizará sola.',
    mayHaveStarted:
      'No sabemos si su pago se alcanzó a iniciar. Antes de pagar otra vez, vuelva a abrir esta página: si hay un pago en camino, aparecerá aquí.',
    notStarted:
      'Esta vez no iniciamos ningún pago. Si ya pagó antes, no vuelva a pagar: abra de nuevo esta página y verá el resultado.',
    quote: 'Si pide ayuda, mencione este código: {code}',
    again: 'Volver a intentar',
  },
} as const;

type Widen<T> = T extends string ? string : { readonly [name in keyof T]: Widen<T[name]> };
export type PageMessages = Widen<typeof ES>;

const EN: PageMessages = {
  connection: {
    lost: 'No connection to us; we keep trying.',
    offline: 'Your device is offline; this page updates when the connection is back.',
    unsent: 'Your device is offline: nothing was sent. Try again when the connection is back.',
  },
  leaving: { soon: 'You will return to {shop} in {seconds} s.', stay: 'Stay here' },
  broken: {
    title: 'We could not look up your payment',
    unread: 'If you already paid, do not pay again: this page updates by itself.',
    mayHaveStarted:
      'We do not know whether your payment was started. Before you pay again, reopen this page: if a payment is on its way, it appears here.',
    notStarted:
      'We did not start a payment this time. If you already paid before, do not pay again: reopen this page to see the result.',
    quote: 'If you ask for help, mention this code: {code}',
    again: 'Try again',
  },
};

export const PAGE_MESSAGES: Readonly<Record<'es' | 'en', PageMessages>> = { es: ES, en: EN };
