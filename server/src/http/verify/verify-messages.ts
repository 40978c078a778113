import type { CheckResult } from './check-result.ts';

interface TitleAndText {
  readonly title: string;
  readonly about: string;
}

/** The texts of `/verificar` in one language. The page contains them as JSON. */
export interface VerifyMessages {
  readonly language: 'es' | 'en';
  readonly title: string;
  readonly about: string;
  readonly field: string;
  readonly hint: string;
  readonly check: string;
  readonly checking: string;
  readonly unsupported: string;
  readonly noScript: string;
  readonly otherLanguage: string;
  readonly staging: string;
  readonly test: TitleAndText;
  readonly states: Readonly<Record<CheckResult['state'], TitleAndText>>;
  readonly rejected: Readonly<Record<Exclude<CheckResult['verdict'], 'authentic'>, TitleAndText>>;
  readonly labels: Readonly<
    Record<
      'amount' | 'shop' | 'taxId' | 'paidAt' | 'reference' | 'rail' | 'trace' | 'code' | 'signedAt',
      string
    >
  >;
}

const ES: VerifyMessages = {
  language: 'es',
  title: 'Verificar un comprobante',
  about:
    'Escanee el código QR del comprobante con la cámara de su celular, o escriba aquí el código. Compare después el valor y el comercio con los que le muestran.',
  field: 'Código o dirección del comprobante',
  hint: '12 letras y números, por ejemplo 7K3M-9QXA-22TF',
  check: 'Verificar',
  checking: 'Verificando…',
  unsupported: 'Este navegador no puede comprobarlo sin conexión. Conéctese a internet e inténtelo de nuevo.',
  noScript: 'Sin JavaScript, escriba el código o pegue la dirección completa del código QR.',
  otherLanguage: 'English',
  staging: 'Ambiente de pruebas: no se mueve dinero real.',
  test: {
    title: 'Comprobante de PRUEBA',
    about: 'Este comprobante es de un ambiente de pruebas: no se movió dinero real. No entregue nada por él.',
  },
  states: {
    confirmed: {
      title: 'Comprobante auténtico',
      about: 'El pago se recibió y el dinero no se ha devuelto.',
    },
    offline: {
      title: 'Comprobante auténtico',
      about:
        'Se firmó el {signedAt}. Sin conexión no se puede ver si el dinero se devolvió después de ese momento.',
    },
    returned: {
      title: 'El dinero de este pago se devolvió',
      about: 'El comprobante fue auténtico, pero ya no prueba un pago: el dinero se devolvió al pagador.',
    },
    reversed: {
      title: 'Este pago se anuló',
      about: 'El comprobante fue auténtico, pero ya no prueba un pago: la red no registró el dinero.',
    },
    unknown: {
      title: 'La firma es auténtica, pero no encontramos el pago',
      about: 'Se firmó el {signedAt}. Pregúntele al comercio antes de entregar el producto.',
    },
  },
  rejected: {
    unreadable: {
      title: 'Esto no es un comprobante',
      about: 'La dirección está incompleta o no contiene un comprobante. Escanee el código QR de nuevo.',
    },
    unknown_key: {
      title: 'Comprobante falso',
      about: 'Este servicio no firmó este comprobante.',
    },
    revoked_key: {
      title: 'Comprobante no válido',
      about:
        'La firma de este comprobante fue anulada. Pídale al pagador que abra de nuevo su comprobante en internet y muestre el nuevo código.',
    },
    expired_key: {
      title: 'Comprobante falso',
      about: 'Se firmó con una clave que ya no estaba en uso.',
    },
    altered: {
      title: 'Comprobante falso',
      about: 'Los datos no corresponden a la firma: alguien los cambió.',
    },
    unknown_code: {
      title: 'No existe un comprobante con este código',
      about: 'Revise cada letra y número. Si el código está bien copiado, el comprobante es falso.',
    },
    invalid_code: {
      title: 'El código no está bien escrito',
      about: 'Tiene 12 letras y números. Revíselo e inténtelo de nuevo.',
    },
    busy: {
      title: 'Demasiadas consultas',
      about: 'Espere un minuto e inténtelo de nuevo.',
    },
    code_offline: {
      title: 'No hay conexión',
      about: 'Un código solo se verifica con conexión. Sin conexión, escanee el código QR del comprobante.',
    },
  },
  labels: {
    amount: 'Valor',
    shop: 'Comercio',
    taxId: 'NIT',
    paidAt: 'Fecha del pago',
    reference: 'Referencia',
    rail: 'Medio de pago',
    trace: 'Transacción',
    code: 'Código',
    signedAt: 'Firmado el',
  },
};

const EN: VerifyMessages = {
  language: 'en',
  title: 'Check a receipt',
  about:
    'Scan the QR code of the receipt with the camera of your phone, or type its code here. Then compare the amount and the shop with what you are shown.',
  field: 'Code or address of the receipt',
  hint: '12 letters and digits, for example 7K3M-9QXA-22TF',
  check: 'Check',
  checking: 'Checking…',
  unsupported: 'This browser cannot check it offline. Connect to the internet and try again.',
  noScript: 'Without JavaScript, type the code or paste the complete address of the QR code.',
  otherLanguage: 'Español',
  staging: 'Test environment: no real money moves.',
  test: {
    title: 'TEST receipt',
    about:
      'This receipt comes from a test environment: no real money moved. Do not hand over anything for it.',
  },
  states: {
    confirmed: {
      title: 'Authentic receipt',
      about: 'The payment was received and the money has not been returned.',
    },
    offline: {
      title: 'Authentic receipt',
      about: 'Signed on {signedAt}. Offline, a return of the money after that time cannot be seen.',
    },
    returned: {
      title: 'The money of this payment was returned',
      about: 'The receipt was authentic, but it no longer proves a payment: the payer has the money back.',
    },
    reversed: {
      title: 'This payment was reversed',
      about:
        'The receipt was authentic, but it no longer proves a payment: the network has no record of the money.',
    },
    unknown: {
      title: 'The signature is authentic, but we cannot find the payment',
      about: 'Signed on {signedAt}. Ask the shop before you hand over the product.',
    },
  },
  rejected: {
    unreadable: {
      title: 'This is not a receipt',
      about: 'The address is incomplete or contains no receipt. Scan the QR code again.',
    },
    unknown_key: { title: 'Forged receipt', about: 'This service did not sign this receipt.' },
    revoked_key: {
      title: 'Invalid receipt',
      about:
        'The signature of this receipt was revoked. Ask the payer to open the receipt online again and to show the new code.',
    },
    expired_key: { title: 'Forged receipt', about: 'It was signed with a key that was no longer in use.' },
    altered: {
      title: 'Forged receipt',
      about: 'The data does not match the signature: someone changed it.',
    },
    unknown_code: {
      title: 'There is no receipt with this code',
      about: 'Check every letter and digit. If the code is copied correctly, the receipt is forged.',
    },
    invalid_code: {
      title: 'The code is not written correctly',
      about: 'It has 12 letters and digits. Check it and try again.',
    },
    busy: { title: 'Too many requests', about: 'Wait a minute and try again.' },
    code_offline: {
      title: 'No connection',
      about: 'A code can be checked only online. Offline, scan the QR code of the receipt.',
    },
  },
  labels: {
    amount: 'Amount',
    shop: 'Shop',
    taxId: 'NIT (tax id)',
    paidAt: 'Paid on',
    reference: 'Reference',
    rail: 'Method',
    trace: 'Transaction',
    code: 'Code',
    signedAt: 'Signed on',
  },
};

export const VERIFY_MESSAGES: Readonly<Record<'es' | 'en', VerifyMessages>> = { es: ES, en: EN };
