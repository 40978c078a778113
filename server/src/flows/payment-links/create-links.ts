import { encryptCustomer } from '../../customers/customer.encryption.ts';
import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Cents } from '../../kit/money.ts';
import { findLinks, insertLinks, linkFromRow, type NewLink } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';
import { type Created, type Creation, type CreationKind, createOnce } from '../shared/create-once.ts';
import { rejectedCreations } from '../shared/reject-creation.ts';

export interface CreateLink extends Creation {
  readonly amount: Cents;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly customer: Customer | null;
}

export type CreatedLink = Created<PaymentLink>;

const LINKS: CreationKind<CreateLink, PaymentLink> = {
  referenceKind: 'payment_link',

  async find(tx, wanted) {
    const distinct = new Map(
      wanted.map(({ command, id }) => [id, { organizationId: command.organization.id, id }]),
    );
    const rows = new Map((await findLinks(tx, [...distinct.values()])).map((row) => [row.id, row]));
    return wanted.map(({ command, id }) => {
      const row = rows.get(id);
      return row && linkFromRow(row, command.secrets.dataKey);
    });
  },

  async reject(_tx, commands) {
    return rejectedCreations(commands, ({ rail }) => (rail === null ? RAILS : [rail]));
  },

  async insert(tx, commands) {
    const rows = new Map((await insertLinks(tx, commands.map(newLink))).map((row) => [row.id, row]));
    return commands.map((command) => {
      const row = rows.get(command.id);
      if (!row) throw new Error('payment link was not inserted');
      return {
        ...linkFromRow({ ...row, customer: null }, command.secrets.dataKey),
        customer: command.customer,
      };
    });
  },
};

/** Creates links in one transaction. Results are in the order of the commands. */
export async function createLinks(
  deps: Deps,
  commands: readonly CreateLink[],
  waitForLocks = true,
): Promise<CreatedLink[]> {
  const organizations = new Set(commands.map((command) => command.organization.id));
  return deps.batch.write(
    'create links',
    organizations,
    (tx) => createOnce(tx, LINKS, commands),
    waitForLocks,
  );
}

function newLink(command: CreateLink): NewLink {
  const { id, organization, secrets, amount, reference, description, callbackUrl, rail, bank } = command;
  const row = { table: 'payment_links', organizationId: organization.id, id } as const;
  return {
    organizationId: organization.id,
    id,
    amount,
    reference,
    description,
    callbackUrl,
    rail,
    bank,
    encryptedCustomer: encryptCustomer(secrets.dataKey, command.customer, row),
  };
}
