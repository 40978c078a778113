const ES = {
  title: 'Simulador de Caudal',
  intro: 'Hace de nodo Bre-B y de PSE para desarrollo y pruebas.',
  pay: 'Pagar una llave Bre-B',
  empty: 'Nada por ahora.',
  keys: 'Llaves que esperan su pago',
  transactions: 'Pagos PSE que esperan en el banco',
  documents: 'Documentos mágicos',
  documentsText:
    'Con uno de estos números como documento del pagador, el pago termina por sí solo unos 3 s después, en Bre-B y en PSE.',
  payers: 'Pagadores de una llave sin documento',
  payersText:
    'Un intento Bre-B puede no tener pagador: en «Pagar una llave Bre-B» alguien paga de menos, de más, dos veces o tarde; lo mismo hace la interfaz de control.',
  testKeys: 'Llaves de prueba para pagos enviados',
  testKeysText: 'Así termina un pago enviado a cada una, alrededor de 1 s después de recibida la orden.',
  control: 'Interfaz de control (solo en esta máquina)',
};

const EN: Record<keyof typeof ES, string> = {
  title: 'Caudal simulator',
  intro: 'Plays the Bre-B node and PSE for development and tests.',
  pay: 'Pay a Bre-B key',
  empty: 'Nothing at the moment.',
  keys: 'Keys waiting for their payment',
  transactions: 'PSE payments waiting at the bank',
  documents: 'Test documents',
  documentsText:
    'With one of these numbers as the document of the payer, the payment ends automatically about 3 s later, on Bre-B and on PSE.',
  payers: 'Payers of a key without a document',
  payersText:
    'A Bre-B attempt may have no payer: on “Pay a Bre-B key” somebody underpays, overpays, pays twice or pays late; the control API does the same.',
  testKeys: 'Test keys for payouts',
  testKeysText: 'How a payout to each of them ends, about 1 s after the order was received.',
  control: 'Control API (only on this machine)',
};

export const HOME_TEXTS = { es: ES, en: EN };
