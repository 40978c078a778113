import type { PayinErrorCode } from '../../server/src/payins/payin.ts';
import type { PayoutErrorCode } from '../../server/src/payouts/payout.columns.ts';

interface Meaning {
  /** What happened. */
  readonly cause: string;
  /** What the merchant should do. */
  readonly remedy: string;
}

/** Descriptions of every `errorCode` for developers. A missing or unknown code is a compile error. */
export const ERROR_CODE_MESSAGES: Readonly<
  Record<PayinErrorCode | PayoutErrorCode, Readonly<Record<'en' | 'es', Meaning>>>
> = {
  EXPIRED: {
    en: {
      cause: 'No payment arrived in time; the key or transaction is closed at the rail.',
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
      cause: 'The payer left the bank page without a decision.',
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
        'Payin: the payer’s account had insufficient funds. Payout: your available balance was insufficient; nothing was sent.',
      remedy:
        'Payin: offer another account or method. Payout: fund the balance, then create a payout with a new reference.',
    },
    es: {
      cause:
        'Cobro: la cuenta del pagador no tenía suficiente. Pago: su saldo disponible no alcanzaba; no se envió nada.',
      remedy: 'Cobro: ofrezca otra cuenta o medio. Pago: fondee el saldo y cree un pago con otra referencia.',
    },
  },
  ORGANIZATION_LIMIT_EXCEEDED: {
    en: {
      cause:
        'Payout: it would exceed a payout limit of your organization or API key (sum or number per day, or per receiver and day). Nothing was sent.',
      remedy:
        'Create a payout with a new reference on the next day (Bogotá time), or ask the operator of this service to raise the limit. If you did not expect so many payouts, check who uses your API key.',
    },
    es: {
      cause:
        'Pago: superaría un límite de pagos de su organización o de su llave de API (valor o cantidad por día, o por receptor y día). No se envió nada.',
      remedy:
        'Cree un pago con otra referencia al día siguiente (hora de Bogotá), o pida al operador de este servicio que suba el límite. Si no esperaba tantos pagos, revise quién usa su llave de API.',
    },
  },
  LIMIT_EXCEEDED: {
    en: {
      cause: 'The amount is outside the limits of the account, its bank or the rail.',
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
      remedy: 'The account holder must contact their bank; use another account meanwhile.',
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
      cause: 'The directory does not, or no longer, contain this key.',
      remedy: 'Ask the receiver for the key again, and look it up before you pay.',
    },
    es: {
      cause: 'El directorio no tiene (o ya no tiene) esa llave.',
      remedy: 'Pida la llave de nuevo y consúltela antes de pagar.',
    },
  },
  KEY_SUSPENDED: {
    en: {
      cause: 'The holder or bank of the key suspended it.',
      remedy: 'The receiver must reactivate it at the bank, or provide another key.',
    },
    es: {
      cause: 'El titular o el banco suspendió la llave.',
      remedy: 'Quien recibe la reactiva en su banco, o da otra llave.',
    },
  },
  KEY_INVALID: {
    en: {
      cause: 'The network does not accept this text as a key.',
      remedy: 'Ask the receiver for the key again.',
    },
    es: {
      cause: 'La red no acepta este texto como llave.',
      remedy: 'Pida la llave de nuevo a quien recibe.',
    },
  },
  RECEIVER_MISMATCH: {
    en: {
      cause: 'The holder of the key is no longer the one in your lookup; nothing was sent.',
      remedy: 'Look up the key again and check with the receiver before you pay.',
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
      cause: 'The rail reported a timeout as the final status. A timeout on our side never ends a payment.',
      remedy: 'Safe to try again with a new reference.',
    },
    es: {
      cause:
        'La red informó, como estado final, que se agotó el tiempo. Un tiempo agotado de nuestro lado nunca termina un pago.',
      remedy: 'Puede intentar de nuevo con otra referencia.',
    },
  },
  RAIL_REJECTED: {
    en: {
      cause: 'The rail rejected it without a specific reason.',
      remedy: 'Offer another method; if it happens often, contact the operator with the payment id.',
    },
    es: {
      cause: 'La red lo rechazó sin indicar una razón específica.',
      remedy: 'Ofrezca otro medio; si ocurre con frecuencia, pregunte al operador con el id del pago.',
    },
  },
  SUSPECTED_FRAUD: {
    en: {
      cause: 'The bank or the network stopped it as suspected fraud.',
      remedy: 'Do not retry. The account holder must contact their bank.',
    },
    es: {
      cause: 'El banco o la red lo detuvo por seguridad.',
      remedy: 'No insista. El titular de la cuenta habla con su banco.',
    },
  },
  INVALID_DATA: {
    en: {
      cause: 'The bank did not recognize the data of the payer or receiver.',
      remedy: 'Check name, document and bank, then retry with a new reference.',
    },
    es: {
      cause: 'El banco no reconoció los datos del pagador o de quien recibe.',
      remedy: 'Revise nombre, documento y banco e intente de nuevo con otra referencia.',
    },
  },
  UNDERPAID: {
    en: {
      cause:
        'Payin: less than `amountInCents` arrived; `confirmedAmountInCents` has the amount. The money is held as an anomaly.',
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
