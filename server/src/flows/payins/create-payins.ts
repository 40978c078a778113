import { sealCustomer } from '../../customers/customer.seal.ts';
import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Cents } from '../../kit/money.ts';
import { FIRST_STATUS } from '../../payins/payin.states.ts';
import { findPayins, insertPayins, type NewPayin, payinOf } from '../../payins/payin.store.ts';
import type { Payin, PayinSource } from '../../payins/payin.ts';
import { type Created, type Creation, type CreationKind, createOnce } from '../shared/create-once.ts';
import { refusedCreations } from '../shared/reject-creation.ts';

export interface CreatePayin extends Creation {
  /** Of the due work that follows the commit: whoever creates it has claimed it. */
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
      return row && payinOf(row, command.secrets.dataKey);
    });
  },

  async refuse(_tx, commands) {
    return refusedCreations(commands, ({ source }) => [source.rail]);
  },

  async insert(tx, commands) {
    const { createdAt, expiresAt } = await insertPayins(tx, commands.map(newPayin));
    return commands.map((command) => createdPayin(command, createdAt, expiresAt));
  },
};

/**
 * Creates payins, all in one transaction: idempotency keys and references claimed, payins, their Bre-B keys and first
 * history rows written. Answers in the order of the commands.
 */
export async function createPayins(
  deps: Deps,
  commands: readonly CreatePayin[],
  patient = true,
): Promise<CreatedPayin[]> {
  const organizations = new Set(commands.map((command) => command.organization.id));
  return deps.batch.write('create payins', organizations, (tx) => createOnce(tx, PAYINS, commands), patient);
}

function newPayin(command: CreatePayin): NewPayin {
  const { id, organization, amount, reference, callbackUrl, source } = command;
  const row = { table: 'payins', organizationId: organization.id, id } as const;
  return {
    id,
    leaseToken: command.leaseToken,
    organizationId: organization.id,
    amount,
    status: FIRST_STATUS[command.source.rail],
    reference,
    sealedCustomer: sealCustomer(command.secrets.dataKey, command.customer, row),
    callbackUrl,
    source,
    // Without its payer a PSE payin waits for the details; a Bre-B payin's due work is its key's.
    railDue: source.rail === 'PSE' && command.customer !== null,
    paymentLinkId: null,
    expiresAt: null,
  };
}

function createdPayin(command: CreatePayin, createdAt: Date, expiresAt: Date): Payin {
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
