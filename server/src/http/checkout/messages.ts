import { getReasons, type Reasons } from './reasons.ts';

/** All texts of the checkout pages. `formatMessage` replaces the `{…}` placeholders. */
const ES = {
  language: 'es-CO',
  otherLanguage: 'English',
  staging: 'Ambiente de pruebas: no se mueve dinero real.',
  neverAsked: 'Nunca le pediremos la clave de su banco.',
  reference: 'Referencia',
  cus: 'CUS',
  amount: 'Valor',
  shop: 'Comercio',
  dateAndTime: 'Fecha y hora',
  paidWith: 'Medio de pago',
  key: 'Llave',
  back: 'Volver a {shop}',
  backHost: 'Va a {host}',
  backSoon: 'Lo llevaremos allá en cinco segundos.',
  support: '¿Necesita ayuda? Escriba a {shop}: {contact}',
  change: 'Cambiar',
  method: {
    title: '¿Cómo quiere pagar?',
    breb: 'Bre-B',
    brebAbout: 'Desde la app de cualquier banco o billetera, en segundos',
    pse: 'PSE',
    pseAbout: 'Débito desde su banco, Nequi o Daviplata',
  },
  start: {
    title: 'Pague con Bre-B',
    about: 'Le daremos una llave para pagar desde la app de su banco.',
    go: 'Pagar con Bre-B',
  },
  details: {
    title: 'Sus datos',
    about: 'El banco los pide para identificar el pago.',
    name: 'Nombre completo',
    idType: 'Tipo de documento',
    idNumber: 'Número de documento',
    phone: 'Celular',
    phoneHint: 'Por ejemplo 300 123 4567',
    email: 'Correo electrónico',
    idTypes: {
      CO_CC: 'Cédula de ciudadanía',
      CO_CE: 'Cédula de extranjería',
      CO_NIT: 'NIT',
      PASSPORT: 'Pasaporte',
      MXN_RFC: 'RFC (México)',
    },
    authorize: 'Autorizo el uso de mis datos personales para este pago.',
    authorization: 'Texto de la autorización',
    authorizationText:
      'Autorizo a {shop} y a quien opera esta página a usar los datos que escribo aquí únicamente para procesar este pago, identificarlo ante el banco y atender reclamos, conforme a la Ley 1581 de 2012. Puedo conocerlos, actualizarlos, corregirlos y pedir que los borren escribiendo a {contact}.',
    go: 'Continuar',
    goToBank: 'Continuar a {bank}',
    wrong: 'Revise estos campos',
    errors: {
      name: 'Escriba su nombre completo.',
      idType: 'Elija el tipo de documento.',
      idNumber: 'Revise el número de documento.',
      phone: 'Escriba un celular, por ejemplo 300 123 4567.',
      email: 'Escriba un correo, por ejemplo ana@correo.com.',
      authorize: 'Necesitamos su autorización para usar estos datos.',
      bank: 'Elija su banco.',
      personType: 'Diga si paga como persona o como empresa.',
    },
  },
  bank: {
    title: 'Elija su banco',
    search: 'Busque su banco',
    mostUsed: 'Más usados',
    all: 'Todos los bancos',
    none: 'Ningún banco se llama así.',
    person: '¿Quién paga?',
    INDIVIDUAL: 'Persona natural',
    BUSINESS: 'Empresa',
    go: 'Continuar',
    goTo: 'Continuar a {bank}',
  },
  opening: {
    title: 'Estamos abriendo la página de su banco…',
    about: 'Tarda unos segundos. Esta página se actualiza sola.',
  },
  toBank: {
    title: 'Lo estamos llevando a {bank}…',
    about: 'Si no se abre sola, toque el botón.',
    go: 'Ir a {bank}',
  },
  breb: {
    title: 'Pague con esta llave',
    scan: 'Escanee con la app de su banco',
    copy: 'Copiar llave',
    copied: 'Copiada',
    steps: [
      'Abra la app de su banco o billetera.',
      'Elija Bre-B y pegue la llave.',
      'Revise que el valor sea {amount} y confirme.',
    ],
    showQr: 'Mostrar código QR',
    qr: 'Código QR para pagar {amount} con Bre-B',
    other: 'Usar otro medio',
  },
  waiting: {
    title: 'Esperando su pago…',
    about: 'Esta página se actualiza sola.',
    left: 'La llave vence en {time}',
    minutes: 'Faltan {minutes} minutos para que la llave venza.',
    minute: 'Falta un minuto para que la llave venza.',
    over: 'La llave venció.',
  },
  closing: {
    title: 'Un momento…',
    about: 'Estamos comprobando que no haya un pago en camino. Si ya pagó, el resultado aparecerá aquí.',
  },
  pending: {
    title: 'Su banco está confirmando el pago',
    about: 'Puede tardar unos minutos. No vuelva a pagar: el resultado aparecerá aquí.',
    again: 'Abrir de nuevo la página del banco',
  },
  underpaid: {
    title: 'Recibimos {paid} de {amount}',
    about: 'Llegó menos de lo que se cobra, así que el pago no está completo.',
    ask: 'Escriba a {shop}: {contact}',
    again: 'Pagar el valor completo',
  },
  suspended: {
    excess: 'Recibimos {excess} de más',
    excessLabel: 'Recibido de más',
    held: 'Su dinero está guardado: {shop} decide si se lo devuelve o lo abona.',
    credited: '{shop} aceptó ese dinero.',
    returned: 'Ese dinero se está devolviendo.',
  },
  confirmed: { title: 'Pago recibido', receipt: 'Ver comprobante' },
  declined: {
    title: 'Su banco no aprobó el pago',
    nothing: 'No se hizo ningún cobro.',
    again: 'Intentar de nuevo',
    other: 'Usar otro medio',
  },
  canceled: {
    title: 'El pago se canceló',
    nothing: 'No se hizo ningún cobro.',
    again: 'Intentar de nuevo',
    other: 'Usar otro medio',
  },
  keyExpired: {
    title: 'La llave venció',
    nothing: 'No se hizo ningún cobro.',
    again: 'Generar una llave nueva',
    other: 'Usar otro medio',
  },
  unavailable: {
    title: 'No se puede pagar en este momento',
    about: 'El medio de pago está en pausa. Vuelva a intentarlo en unos minutos; no se movió dinero.',
  },
  shopSuspended: {
    title: 'Este comercio no está recibiendo pagos',
    about:
      'No se hizo ningún cobro. No le podemos decir cuándo volverá a recibirlos; pregúntele al comercio.',
  },
  linkExpired: { title: 'Este enlace de pago venció', about: 'Pídale a {shop} uno nuevo.' },
  payinExpired: {
    title: 'El tiempo para pagar terminó',
    about: 'No se hizo ningún cobro. Pídale a {shop} un pago nuevo.',
  },
  alreadyPaid: { title: 'Este pago ya se hizo', receipt: 'Ver comprobante' },
  unknown: { title: 'No encontramos este enlace', about: 'Revise que esté completo o pídalo de nuevo.' },
  receipt: {
    title: 'Comprobante de pago',
    authentic: 'Un comprobante auténtico solo vive en esta dirección: compruébela en la barra del navegador.',
    print: 'Imprimir',
    notYet: 'Este pago no se ha recibido.',
  },
  broken: {
    title: 'Algo falló de nuestro lado',
    moved:
      'No sabemos si su pago se alcanzó a iniciar. Antes de pagar otra vez, vuelva a abrir esta página: si hay un pago en camino, aparecerá aquí.',
    notMoved: 'No se movió dinero.',
    quote: 'Si escribe a {shop}, mencione este código: {code}',
    again: 'Volver a intentar',
  },
  busy: {
    title: 'Demasiados intentos',
    about: 'Espere un minuto y vuelva a intentarlo. No se movió dinero.',
  },
} as const;

type Widen<T> = T extends string ? string : { readonly [name in keyof T]: Widen<T[name]> };
type OwnMessages = Widen<typeof ES>;
/** Includes the decline reasons by errorCode. */
export type Messages = OwnMessages & { readonly reasons: Reasons };

const EN: OwnMessages = {
  language: 'en',
  otherLanguage: 'Español',
  staging: 'Test environment: no real money moves.',
  neverAsked: 'We will never ask for your bank password.',
  reference: 'Reference',
  cus: 'CUS',
  amount: 'Amount',
  shop: 'Shop',
  dateAndTime: 'Date and time',
  paidWith: 'Paid with',
  key: 'Key',
  back: 'Back to {shop}',
  backHost: 'Goes to {host}',
  backSoon: 'We will take you there in five seconds.',
  support: 'Need help? Write to {shop}: {contact}',
  change: 'Change',
  method: {
    title: 'How do you want to pay?',
    breb: 'Bre-B',
    brebAbout: 'From the app of any bank or wallet, in seconds',
    pse: 'PSE',
    pseAbout: 'Debit from your bank, Nequi or Daviplata',
  },
  start: {
    title: 'Pay with Bre-B',
    about: 'We will give you a key to pay from your bank’s app.',
    go: 'Pay with Bre-B',
  },
  details: {
    title: 'Your details',
    about: 'The bank asks for them to identify the payment.',
    name: 'Full name',
    idType: 'Type of document',
    idNumber: 'Document number',
    phone: 'Mobile number',
    phoneHint: 'For example 300 123 4567',
    email: 'E-mail address',
    idTypes: {
      CO_CC: 'Colombian ID card (cédula)',
      CO_CE: 'Foreigner’s ID card',
      CO_NIT: 'NIT (company)',
      PASSPORT: 'Passport',
      MXN_RFC: 'RFC (Mexico)',
    },
    authorize: 'I allow my personal data to be used for this payment.',
    authorization: 'Text of the authorisation',
    authorizationText:
      'I authorise {shop} and the operator of this page to use the data I type here only to process this payment, to identify it to the bank and to handle claims, under Colombia’s Law 1581 of 2012. I can see, update and correct it, and ask for it to be deleted, by writing to {contact}.',
    go: 'Continue',
    goToBank: 'Continue to {bank}',
    wrong: 'Please check these fields',
    errors: {
      name: 'Type your full name.',
      idType: 'Choose the type of document.',
      idNumber: 'Check the document number.',
      phone: 'Type a mobile number, for example 300 123 4567.',
      email: 'Type an e-mail address, for example ana@mail.com.',
      authorize: 'We need your authorisation to use these data.',
      bank: 'Choose your bank.',
      personType: 'Say whether you pay as a person or as a company.',
    },
  },
  bank: {
    title: 'Choose your bank',
    search: 'Search your bank',
    mostUsed: 'Most used',
    all: 'All banks',
    none: 'No bank has that name.',
    person: 'Who pays?',
    INDIVIDUAL: 'A person',
    BUSINESS: 'A company',
    go: 'Continue',
    goTo: 'Continue to {bank}',
  },
  opening: {
    title: 'We are opening your bank’s page…',
    about: 'It takes a few seconds. This page updates itself.',
  },
  toBank: {
    title: 'Taking you to {bank}…',
    about: 'If it does not open by itself, tap the button.',
    go: 'Go to {bank}',
  },
  breb: {
    title: 'Pay with this key',
    scan: 'Scan with your bank’s app',
    copy: 'Copy key',
    copied: 'Copied',
    steps: [
      'Open the app of your bank or wallet.',
      'Choose Bre-B and paste the key.',
      'Check that the amount is {amount} and confirm.',
    ],
    showQr: 'Show QR code',
    qr: 'QR code to pay {amount} with Bre-B',
    other: 'Use another method',
  },
  waiting: {
    title: 'Waiting for your payment…',
    about: 'This page updates itself.',
    left: 'The key expires in {time}',
    minutes: '{minutes} minutes left until the key expires.',
    minute: 'One minute left until the key expires.',
    over: 'The key has expired.',
  },
  closing: {
    title: 'One moment…',
    about: 'We are making sure that no payment is on its way. If you have paid, the result will appear here.',
  },
  pending: {
    title: 'Your bank is confirming the payment',
    about: 'It may take a few minutes. Do not pay again: the result will appear here.',
    again: 'Open the bank’s page again',
  },
  underpaid: {
    title: 'We received {paid} of {amount}',
    about: 'Less arrived than is charged, so the payment is not complete.',
    ask: 'Write to {shop}: {contact}',
    again: 'Pay the full amount',
  },
  suspended: {
    excess: 'We received {excess} too much',
    excessLabel: 'Received in excess',
    held: 'Your money is safe: {shop} decides whether to return or to credit it.',
    credited: '{shop} accepted that money.',
    returned: 'That money is being returned.',
  },
  confirmed: { title: 'Payment received', receipt: 'See receipt' },
  declined: {
    title: 'Your bank did not approve the payment',
    nothing: 'Nothing was charged.',
    again: 'Try again',
    other: 'Use another method',
  },
  canceled: {
    title: 'The payment was canceled',
    nothing: 'Nothing was charged.',
    again: 'Try again',
    other: 'Use another method',
  },
  keyExpired: {
    title: 'The key has expired',
    nothing: 'Nothing was charged.',
    again: 'Make a new key',
    other: 'Use another method',
  },
  unavailable: {
    title: 'Payments are not possible right now',
    about: 'The payment method is paused. Try again in a few minutes; no money moved.',
  },
  shopSuspended: {
    title: 'This shop is not taking payments',
    about: 'Nothing was charged. We cannot tell you when it will take them again; please ask the shop.',
  },
  linkExpired: { title: 'This payment link has expired', about: 'Ask {shop} for a new one.' },
  payinExpired: {
    title: 'The time to pay is over',
    about: 'Nothing was charged. Ask {shop} for a new payment.',
  },
  alreadyPaid: { title: 'This payment was already made', receipt: 'See receipt' },
  unknown: { title: 'We cannot find this link', about: 'Check that it is complete, or ask for it again.' },
  receipt: {
    title: 'Payment receipt',
    authentic: 'An authentic receipt lives only at this address: check it in the browser’s bar.',
    print: 'Print',
    notYet: 'This payment has not been received.',
  },
  broken: {
    title: 'Something failed on our side',
    moved:
      'We do not know whether your payment was begun. Before you pay again, open this page anew: if a payment is on its way it will appear here.',
    notMoved: 'No money moved.',
    quote: 'If you write to {shop}, mention this code: {code}',
    again: 'Try again',
  },
  busy: { title: 'Too many attempts', about: 'Wait a minute and try again. No money moved.' },
};

export const MESSAGES: Readonly<Record<'es' | 'en', Messages>> = {
  es: { ...ES, reasons: getReasons('es') },
  en: { ...EN, reasons: getReasons('en') },
};

/** Version of the authorization text that the payer accepted. Change it whenever the text changes. */
export const AUTHORIZATION_TEXT_ID = 'datos-2026-11';

/** Replaces `{name}` placeholders with values. */
export function formatMessage(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
