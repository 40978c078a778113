import { recordAction } from '../../audit/operator-action.store.ts';
import { decryptValue, encryptValue } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID, type OrganizationSecrets } from '../../organizations/organization.ts';
import { deleteHold, insertHold, listHolds } from '../../people/hold.store.ts';
import { type PersonIdentifier, personHash } from '../../people/person.ts';
import { matchPerson, type PersonResource, searchPattern } from './person-resources.system.ts';

type HoldDeps = Pick<SystemDeps, 'system' | 'masterKeys' | 'clock' | 'cell'>;

export interface LegalHold {
  /** The person in the audit log. */
  readonly person: string;
  readonly identifier: PersonIdentifier;
  readonly reason: string;
  readonly placedBy: string;
  readonly placedAt: Date;
}

export async function operatorSecrets(
  deps: Pick<SystemDeps, 'system' | 'masterKeys'>,
): Promise<OrganizationSecrets> {
  const keys = new DataKeys(deps.system, deps.masterKeys);
  return (await keys.load(new Set([OPERATOR_ORGANIZATION_ID])))(OPERATOR_ORGANIZATION_ID);
}

/** The person in audit rows: a keyed hash, because audit rows are kept permanently. */
export async function personName(
  deps: Pick<SystemDeps, 'system' | 'masterKeys'>,
  identifier: PersonIdentifier,
): Promise<string> {
  return personHash((await operatorSecrets(deps)).hashKey, identifier).toString('hex');
}

/** @returns false when the person is already held */
export async function placeHold(
  deps: HoldDeps,
  operator: string,
  identifier: PersonIdentifier,
  reason: string,
): Promise<boolean> {
  const { dataKey, hashKey } = await operatorSecrets(deps);
  const id = uuidv7(deps.clock.now(), deps.cell);
  const rowId = { organizationId: OPERATOR_ORGANIZATION_ID, id };
  const person = personHash(hashKey, identifier);
  return deps.system.transaction('manage holds', async (tx) => {
    const encrypted = encryptValue('person_holds', 'identifier', rowId, identifier, dataKey);
    const hold = { id, person, identifier: encrypted, reason, placedBy: operator };
    if (!(await insertHold(tx, OPERATOR_ORGANIZATION_ID, hold))) return false;
    await recordHold(tx, 'people.hold', operator, person, reason);
    return true;
  });
}

/** @returns false when the person is not held */
export async function releaseHold(
  deps: HoldDeps,
  operator: string,
  identifier: PersonIdentifier,
  reason: string,
): Promise<boolean> {
  const person = personHash((await operatorSecrets(deps)).hashKey, identifier);
  return deps.system.transaction('manage holds', async (tx) => {
    if (!(await deleteHold(tx, OPERATOR_ORGANIZATION_ID, person))) return false;
    await recordHold(tx, 'people.release', operator, person, reason);
    return true;
  });
}

async function recordHold(
  tx: Tx,
  action: 'people.hold' | 'people.release',
  operator: string,
  person: Buffer,
  note: string,
): Promise<void> {
  await recordAction(tx, {
    operator,
    action,
    organizationId: null,
    resource: person.toString('hex'),
    note,
  });
}

/** The legal holds, with their decrypted identifiers. */
export async function readHolds(
  tx: Pick<Tx, 'query'>,
  { dataKey }: Pick<OrganizationSecrets, 'dataKey'>,
): Promise<LegalHold[]> {
  return (await listHolds(tx, OPERATOR_ORGANIZATION_ID)).map(({ id, person, identifier, ...hold }) => {
    const rowId = { organizationId: OPERATOR_ORGANIZATION_ID, id };
    const decrypted = decryptValue('person_holds', 'identifier', rowId, identifier, dataKey);
    return { ...hold, person: person.toString('hex'), identifier: decrypted as PersonIdentifier };
  });
}

/** Whether the resource contains data of a person under a legal hold, also when another person asked for its erasure. */
export function isHeld(holds: readonly LegalHold[], resource: PersonResource): boolean {
  return holds.some(
    ({ identifier }) =>
      matchPerson(identifier, searchPattern(resource.secrets.hashKey, identifier), resource) !== null,
  );
}
