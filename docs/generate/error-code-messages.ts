import type { PayinErrorCode } from '../../server/src/payins/payin.ts';

interface Meaning {
  /** What happened. */
  readonly cause: string;
  /** What the merchant does. */
  readonly remedy: string;
}

/** Every `errorCode` for developers. A code that is missing here, or one too many, does not compile. */
export const ERROR_CODE_WORDS: Readonly<Record<PayinErrorCode, Readonly<Record<'en' | 'es', Meaning>>>> = {
  EXPIRED: {
    en: {
      cause: 'Nobody paid in time; the key or transaction is closed at the rail.',
      remedy: 'Create a new payin if the payer still wants to pay.',
    },
    es: {
      cause: 'Nadie pagó a tiempo; la llave o la transacción está cerrada en la red.',
      remedy: 'Cree un cobro nuevo si el pagador aún quiere pagar.',
    },
  },
  PAYER_CANCELED: {
    en: { cause: 'The payer canceled at the bank.', remedy: 'Offer to pay again, with a new payin.' },
    es: { cause: 'El pagador canceló en el banco.', remedy: 'Ofrezca pagar de nuevo, con un cobro nuevo.' },
  },
  PAYER_ABANDONED: {
    en: {
      cause: 'The payer left the bank’s page without deciding.',
      remedy: 'Offer to pay again, with a new payin.',
    },
    es: {
      cause: 'El pagador dejó la página del banco sin decidir.',
      remedy: 'Ofrezca pagar de nuevo, con un cobro nuevo.',
    },
  },
  INSUFFICIENT_FUNDS: {
    en: {
      cause:
        'Payin: the payer’s account did not have enough. Payout: your available balance did not cover it; nothing was sent.',
      remedy:
        'Payin: offer another account or method. Payout: fund the balance, then create a payout with a new reference.',
    },
    es: {
      cause:
        'Cobro: la cuenta del pagador no tenía suficiente. Pago: su saldo disponible no alcanzaba; no se envió nada.',
      remedy: 'Cobro: ofrezca otra cuenta o medio. Pago: fondee el saldo y cree un pago con otra referencia.',
    },
  },
  LIMIT_EXCEEDED: {
    en: {
      cause: 'The amount is outside what the account, its bank or the rail allows.',
      remedy: 'Use another method, or split the amount where that is allowed.',
    },
    es: {
      cause: 'El valor está fuera de lo que permiten la cuenta, su banco o la red.',
      remedy: 'Use otro medio, o divida el valor donde esté permitido.',
    },
  },
  NETWORK_LIMIT_EXCEEDED: {
    en: {
      cause: 'The amount exceeds the limit of the whole network.',
      remedy: 'Use another method, or a smaller amount.',
    },
    es: { cause: 'El valor supera el límite de toda la red.', remedy: 'Use otro medio, o un valor menor.' },
  },
  ACCOUNT_BLOCKED: {
    en: {
      cause: 'The account is blocked.',
      remedy: 'The account’s holder talks to their bank; use another account meanwhile.',
    },
    es: {
      cause: 'La cuenta está bloqueada.',
      remedy: 'El titular habla con su banco; mientras tanto use otra cuenta.',
    },
  },
  ACCOUNT_NOT_FOUND: {
    en: { cause: 'The account behind the key does not exist.', remedy: 'Ask the receiver for another key.' },
    es: { cause: 'La cuenta detrás de la llave no existe.', remedy: 'Pida otra llave a quien recibe.' },
  },
  ACCOUNT_CLOSED: {
    en: { cause: 'The account was closed.', remedy: 'Ask for another account or key.' },
    es: { cause: 'La cuenta fue cerrada.', remedy: 'Pida otra cuenta o llave.' },
  },
  KEY_NOT_FOUND: {
    en: {
      cause: 'The directory has no such key (any more).',
      remedy: 'Ask the receiver for the key again, and look it up before you pay.',
    },
    es: {
      cause: 'El directorio no tiene (o ya no tiene) esa llave.',
      remedy: 'Pida la llave de nuevo y consúltela antes de pagar.',
    },
  },
  KEY_SUSPENDED: {
    en: {
      cause: 'The key’s holder or bank has suspended it.',
      remedy: 'The receiver reactivates it at the bank, or gives another key.',
    },
    es: {
      cause: 'El titular o el banco suspendió la llave.',
      remedy: 'Quien recibe la reactiva en su banco, o da otra llave.',
    },
  },
  KEY_INVALID: {
    en: {
      cause: 'The network does not take this text as a key.',
      remedy: 'Ask the receiver for the key again.',
    },
    es: {
      cause: 'La red no acepta este texto como llave.',
      remedy: 'Pida la llave de nuevo a quien recibe.',
    },
  },
  RECEIVER_MISMATCH: {
    en: {
      cause: 'The key’s holder is no longer the one you saw in the lookup; nothing was sent.',
      remedy: 'Look the key up again and ask the receiver before you pay.',
    },
    es: {
      cause: 'El titular de la llave ya no es el que usted vio en la consulta; no se envió nada.',
      remedy: 'Consulte la llave de nuevo y pregunte a quien recibe antes de pagar.',
    },
  },
  BANK_UNAVAILABLE: {
    en: { cause: 'The bank is not available.', remedy: 'Try again later, or offer another bank or method.' },
    es: { cause: 'El banco no está disponible.', remedy: 'Intente más tarde, u ofrezca otro banco o medio.' },
  },
  RAIL_TIMEOUT: {
    en: {
      cause:
        'The rail itself said, as its final word, that time ran out. A timeout of ours never ends a payment.',
      remedy: 'Safe to try again with a new reference.',
    },
    es: {
      cause:
        'La red misma dijo, como palabra final, que se agotó el tiempo. Un tiempo agotado de nuestro lado nunca termina un pago.',
      remedy: 'Puede intentar de nuevo con otra referencia.',
    },
  },
  RAIL_REJECTED: {
    en: {
      cause: 'The rail refused without a reason that says more.',
      remedy: 'Offer another method; if it happens often, ask the operator with the payment’s id.',
    },
    es: {
      cause: 'La red rechazó sin una razón que diga más.',
      remedy: 'Ofrezca otro medio; si ocurre con frecuencia, pregunte al operador con el id del pago.',
    },
  },
  SUSPECTED_FRAUD: {
    en: {
      cause: 'The bank or the network stopped it for safety.',
      remedy: 'Do not insist. The account’s holder talks to their bank.',
    },
    es: {
      cause: 'El banco o la red lo detuvo por seguridad.',
      remedy: 'No insista. El titular de la cuenta habla con su banco.',
    },
  },
  INVALID_DATA: {
    en: {
      cause: 'The bank did not recognise the data of the payer or receiver.',
      remedy: 'Check name, document and bank, then try again with a new reference.',
    },
    es: {
      cause: 'El banco no reconoció los datos del pagador o de quien recibe.',
      remedy: 'Revise nombre, documento y banco e intente de nuevo con otra referencia.',
    },
  },
  UNDERPAID: {
    en: {
      cause:
        'Payin: less than `amountInCents` arrived; `confirmedAmountInCents` says how much. The money is held apart, with an anomaly.',
      remedy:
        'Do not deliver. Accept the money with `POST /payins/{id}/anomalies/{anomalyId}/accept`, or ask the operator to return it; charge the order again with a new payin.',
    },
    es: {
      cause:
        'Cobro: llegó menos de <code>amountInCents</code>; <code>confirmedAmountInCents</code> dice cuánto. El dinero está guardado aparte, con una anomalía.',
      remedy:
        'No entregue. Acepte el dinero con <code>POST /payins/{id}/anomalies/{anomalyId}/accept</code>, o pida al operador que lo devuelva; cobre de nuevo con otro cobro.',
    },
  },
};
