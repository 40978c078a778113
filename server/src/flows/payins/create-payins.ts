import type { Deps } from '../../deps.ts';
import { findPayins, insertPayins, type NewPayin, payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import {
  type Created,
  type Creation,
  type CreationKind,
  createBatch,
  replayFinder,
  storedTrace,
} from '../shared/create-once.ts';
import { rejectedCreations } from '../shared/reject-creation.ts';

/** A command to create a payin for a merchant. */
export interface CreatePayin
  extends Creation,
    Omit<
      NewPayin,
      'organizationId' | 'dataKey' | 'hashKey' | 'paymentLinkId' | 'expiresAt' | 'traceContext'
    > {}

export type CreatedPayin = Created<Payin>;

const PAYINS: CreationKind<CreatePayin, Payin> = {
  referenceKind: 'payin',
  task: 'create payins',

  find: replayFinder(findPayins, payinFromRow),

  async reject(_tx, commands) {
    return rejectedCreations(commands, ({ source }) => [source.rail]);
  },

  async insert(tx, commands) {
    return insertPayins(tx, commands.map(toNewPayin));
  },
};

/**
 * Creates payins in one transaction: reserves idempotency keys and references, inserts payins, their Bre-B keys and first
 * history rows. Answers in the order of the commands.
 */
export function createPayins(
  deps: Deps,
  commands: readonly CreatePayin[],
  waitForLocks = true,
): Promise<CreatedPayin[]> {
  return createBatch(deps, PAYINS, commands, waitForLocks);
}

function toNewPayin(command: CreatePayin): NewPayin {
  const { organization, secrets } = command;
  return {
    ...command,
    organizationId: organization.id,
    dataKey: secrets.dataKey,
    hashKey: secrets.hashKey,
    paymentLinkId: null,
    traceContext: storedTrace(command),
    expiresAt: null,
  };
}
