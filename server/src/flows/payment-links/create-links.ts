import type { Deps } from '../../deps.ts';
import { findLinks, insertLinks, linkFromRow, type NewLink } from '../../payment-links/payment-link.store.ts';
import { asCreated, type PaymentLink } from '../../payment-links/payment-link.ts';
import { RAILS } from '../../rails/contract.ts';
import {
  type Created,
  type Creation,
  type CreationKind,
  createBatch,
  replayFinder,
  storedTrace,
} from '../shared/create-once.ts';
import { Creator } from '../shared/creator.ts';
import { rejectedCreations } from '../shared/reject-creation.ts';

/** A command to create a payment link for a merchant. */
export interface CreateLink
  extends Creation,
    Omit<NewLink, 'organizationId' | 'dataKey' | 'hashKey' | 'traceContext'> {}

const LINKS: CreationKind<CreateLink, PaymentLink> = {
  referenceKind: 'payment_link',
  task: 'create links',
  find: replayFinder(findLinks, linkFromRow),

  async reject(_tx, commands) {
    return rejectedCreations(commands, ({ rail }) => (rail === null ? RAILS : [rail]));
  },

  async insert(tx, commands) {
    return insertLinks(tx, commands.map(toNewLink));
  },
};

/** Creates links in one transaction. Results are in the order of the commands. */
export function createLinks(
  deps: Deps,
  commands: readonly CreateLink[],
  waitForLocks = true,
): Promise<Created<PaymentLink>[]> {
  return createBatch(deps, LINKS, commands, waitForLocks);
}

export function linkCreator(deps: Deps): Creator<CreateLink, PaymentLink> {
  return new Creator(deps, {
    operation: 'payment-links.create',
    run: (commands, waitForLocks) => createLinks(deps, commands, waitForLocks),
    asCreated,
    lanes: 1,
    gauge: 'caudal_link_queue',
    about: 'Links waiting for a batch.',
  });
}

function toNewLink(command: CreateLink): NewLink {
  const { organization, secrets } = command;
  return {
    ...command,
    organizationId: organization.id,
    dataKey: secrets.dataKey,
    hashKey: secrets.hashKey,
    traceContext: storedTrace(command),
  };
}
