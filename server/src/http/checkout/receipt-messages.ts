/** The texts of receipts, on the page and in the PDF file. */
const ES = {
  title: 'Comprobante de pago',
  stamps: { confirmed: 'PAGADO', returned: 'DEVUELTO', reversed: 'ANULADO' },
  notes: {
    confirmed: null,
    returned: 'El dinero de este pago se devolvió. Este comprobante ya no prueba un pago.',
    reversed: 'Este pago se anuló. Este comprobante ya no prueba un pago.',
  },
  test: 'COMPROBANTE DE PRUEBA: no se movió dinero real.',
  amount: 'Valor',
  excess: 'Recibido de más',
  description: 'Concepto',
  shop: 'Comercio',
  legalName: 'Razón social',
  taxId: 'NIT',
  dateAndTime: 'Fecha y hora',
  reference: 'Referencia',
  paidWith: 'Medio de pago',
  key: 'Llave',
  cus: 'CUS',
  trace: 'Transacción',
  code: 'Código de verificación',
  verify: 'Verifique este comprobante en {host}',
  verifyAbout: 'Escanee el código QR o escriba el código en esa página. Si allí no aparece, es falso.',
  qr: 'Código QR para verificar este comprobante',
  share: 'Compartir',
  print: 'Imprimir',
  pdf: 'Descargar PDF',
  file: 'comprobante',
  email: {
    label: 'Correo electrónico, para enviarle el comprobante',
    optional: 'Opcional. Lo usamos solo para este envío y después lo borramos.',
    send: 'Enviar comprobante',
    sent: 'Le enviaremos el comprobante a su correo en unos minutos.',
    invalid: 'Escriba un correo, por ejemplo ana@correo.com.',
    limited: 'Este comprobante ya se envió varias veces. Inténtelo de nuevo mañana.',
  },
};

export type ReceiptMessages = typeof ES | typeof EN;

const EN = {
  title: 'Payment receipt',
  stamps: { confirmed: 'PAID', returned: 'RETURNED', reversed: 'REVERSED' },
  notes: {
    confirmed: null,
    returned: 'The money of this payment was returned. This receipt no longer proves a payment.',
    reversed: 'This payment was reversed. This receipt no longer proves a payment.',
  },
  test: 'TEST RECEIPT: no real money moved.',
  amount: 'Amount',
  excess: 'Received in excess',
  description: 'For',
  shop: 'Shop',
  legalName: 'Legal name',
  taxId: 'NIT (tax id)',
  dateAndTime: 'Date and time',
  reference: 'Reference',
  paidWith: 'Paid with',
  key: 'Key',
  cus: 'CUS',
  trace: 'Transaction',
  code: 'Verification code',
  verify: 'Check this receipt at {host}',
  verifyAbout: 'Scan the QR code or type the code on that page. If it is not found there, it is forged.',
  qr: 'QR code to check this receipt',
  share: 'Share',
  print: 'Print',
  pdf: 'Download PDF',
  file: 'receipt',
  email: {
    label: 'E-mail address, to send you the receipt',
    optional: 'Optional. We use it only for this e-mail and then delete it.',
    send: 'Send receipt',
    sent: 'We will send the receipt to your e-mail address in a few minutes.',
    invalid: 'Enter an e-mail address, for example ana@example.com.',
    limited: 'This receipt was already sent several times. Try again tomorrow.',
  },
} satisfies Record<keyof typeof ES, unknown>;

/** @param language the language of the page, such as `es-CO` */
export function receiptMessages(language: string): ReceiptMessages {
  return language.startsWith('en') ? EN : ES;
}
