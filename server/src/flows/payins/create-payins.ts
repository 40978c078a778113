import { encryptCustomer } from '../../customers/customer.encryption.ts';
import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Cents } from '../../kit/money.ts';
import { FIRST_STATUS } from '../../payins/payin.states.ts';
import { findPayins, insertPayins, type NewPayin, payinFromRow } from '../../payins/payin.store.ts';
import type { Payin, PayinSource } from '../../payins/payin.ts';
import { type Created, type Creation, type CreationKind, createOnce } from '../shared/create-once.ts';
import { rejectedCreations } from '../shared/reject-creation.ts';

export interface CreatePayin extends Creation {
  /** The lease of the creating process on the work due after the commit. */
  readonly leaseToken: string;
  readonly amount: Cents;
  readonly customer: Customer | null;
  readonly callbackUrl: string | null;
  readonly source: PayinSource;
}

export type CreatedPayin = Created<Payin>;

const PAYINS: CreationKind<CreatePayin, Payin> = {
  referenceKind: 'payin',

  async find(tx, wanted) {
    const distinct = new Map(
      wanted.map(({ command, id }) => [id, { organizationId: command.organization.id, id }]),
    );
    const rows = new Map((await findPayins(tx, [...distinct.values()])).map((row) => [row.id, row]));
    return wanted.map(({ command, id }) => {
      const row = rows.get(id);
      return row && payinFromRow(row, command.secrets.dataKey);
    });
  },

  async reject(_tx, commands) {
    return rejectedCreations(commands, ({ source }) => [source.rail]);
  },

  async insert(tx, commands) {
    const { createdAt, expiresAt } = await insertPayins(tx, commands.map(toNewPayin));
    return commands.map((command) => toCreatedPayin(command, createdAt, expiresAt));
  },
};

/**
 * Creates payins in one transaction: reserves idempotency keys and references, inserts payins, their Bre-B keys and first
 * history rows. Answers in the order of the commands.
 */
export async function createPayins(
  deps: Deps,
  commands: readonly CreatePayin[],
  waitForLocks = true,
): Promise<CreatedPayin[]> {
  const organizations = new Set(commands.map((command) => command.organization.id));
  return deps.batch.write(
    'create payins',
    organizations,
    (tx) => createOnce(tx, PAYINS, commands),
    waitForLocks,
  );
}

function toNewPayin(command: CreatePayin): NewPayin {
  const { id, organization, amount, reference, callbackUrl, source } = command;
  const row = { table: 'payins', organizationId: organization.id, id } as const;
  return {
    id,
    leaseToken: command.leaseToken,
    organizationId: organization.id,
    amount,
    status: FIRST_STATUS[command.source.rail],
    reference,
    encryptedCustomer: encryptCustomer(command.secrets.dataKey, command.customer, row),
    callbackUrl,
    source,
    // A PSE payin without a payer waits for the payer's details; for Bre-B the key is due instead of the payin.
    railDue: source.rail === 'PSE' && command.customer !== null,
    paymentLinkId: null,
    expiresAt: null,
  };
}

function toCreatedPayin(command: CreatePayin, createdAt: Date, expiresAt: Date): Payin {
  const { id, organization, amount, reference, customer, callbackUrl, source } = command;
  return {
    id,
    organizationId: organization.id,
    amount,
    confirmedAmount: null,
    status: FIRST_STATUS[command.source.rail],
    settlementStatus: null,
    errorCode: null,
    reference,
    paymentLinkId: null,
    customer,
    callbackUrl,
    source,
    endToEndId: null,
    createdAt,
    updatedAt: createdAt,
    expiresAt,
    resultAt: null,
    chargebackAt: null,
  };
}
