import { claimIdempotencyKeys, releaseIdempotencyKeys } from '../claims/idempotency.store.ts';
import { claimReferences } from '../claims/reference.store.ts';
import type { Tx } from '../db/tx.ts';
import type { Deps } from '../deps.ts';
import type { Cents } from '../kit/money.ts';
import type { Organization, OrganizationSecrets } from '../organizations/organization.ts';
import { sealCustomer } from '../payins/customer.seal.ts';
import { FIRST_STATUS } from '../payins/payin.states.ts';
import { findPayins, insertPayins, type NewPayin, payinOf } from '../payins/payin.store.ts';
import type { Customer, Payin, PayinSource } from '../payins/payin.ts';

export interface CreatePayin {
  /** Made before the batch, so a batch that is tried again creates the same payin. */
  readonly id: string;
  /** Of the due work that follows the commit: whoever creates it has claimed it. */
  readonly claimToken: string;
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly idempotency: { readonly keyHash: Buffer; readonly bodyHash: Buffer } | null;
  readonly amount: Cents;
  readonly reference: string;
  readonly customer: Customer | null;
  readonly callbackUrl: string | null;
  readonly source: PayinSource;
}

export type CreatedPayin =
  | { readonly kind: 'created'; readonly payin: Payin }
  /** The same request was answered before; the payin as it stands now. */
  | { readonly kind: 'replayed'; readonly payin: Payin }
  | { readonly kind: 'reference_taken'; readonly existingId: string }
  | { readonly kind: 'idempotency_mismatch' };

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
  return deps.batch.write('create payins', organizations, (tx) => createInOrder(tx, commands), patient);
}

/** Nearly always one round; see `createRound` for what may be left to the next. */
async function createInOrder(tx: Tx, commands: readonly CreatePayin[]): Promise<CreatedPayin[]> {
  const answers: Answers = new Map();
  let left = commands;
  while (left.length > 0) {
    await createRound(tx, left, answers);
    left = left.filter((command) => !answers.has(command));
  }
  return commands.map((command) => answers.get(command) as CreatedPayin);
}

type Answers = Map<CreatePayin, CreatedPayin>;

/**
 * Commands that share an idempotency key or a reference would collide inside one statement, so the first of each leads
 * and the rest take their answer from what became of it. Left without an answer is only a command whose key was led by
 * a different body that came to nothing: the key is free again.
 */
async function createRound(tx: Tx, commands: readonly CreatePayin[], answers: Answers): Promise<void> {
  const keyed = grouped(
    commands.filter((command) => command.idempotency !== null),
    keyName,
  );
  const leaders = await claimKeys(tx, [...keyed.values()], answers);
  // In the order they came: the first of those that share a reference gets it.
  const fresh = commands.filter((command) => command.idempotency === null || leaders.has(command));
  const granted = await claimNames(tx, [...grouped(fresh, referenceName).values()], answers);
  if (granted.length > 0) {
    const { createdAt, expiresAt } = await insertPayins(tx, granted.map(newPayin));
    for (const command of granted)
      answers.set(command, { kind: 'created', payin: createdPayin(command, createdAt, expiresAt) });
  }
  for (const [leader, ...followers] of keyed.values()) {
    for (const follower of followers) if (!answers.has(follower)) follow(leader, follower, answers);
  }
}

/** The answer of a command whose key another command of the same batch has led. */
function follow(leader: CreatePayin, follower: CreatePayin, answers: Answers): void {
  const led = answers.get(leader);
  const same = claimOf(leader).bodyHash.equals(claimOf(follower).bodyHash);
  if (led?.kind === 'created')
    answers.set(follower, same ? { kind: 'replayed', payin: led.payin } : { kind: 'idempotency_mismatch' });
  else if (led && same) answers.set(follower, led);
}

type Group = [CreatePayin, ...CreatePayin[]];

function grouped(
  commands: readonly CreatePayin[],
  nameOf: (command: CreatePayin) => string,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const command of commands) {
    const name = nameOf(command);
    const group = groups.get(name);
    if (group) group.push(command);
    else groups.set(name, [command]);
  }
  return groups;
}

/** @returns the leaders whose key is new; repeats of an earlier request are answered, whole groups of them */
async function claimKeys(tx: Tx, groups: readonly Group[], answers: Answers): Promise<Set<CreatePayin>> {
  const sorted = groups.toSorted(([a], [b]) => byKey(a, b));
  const holders = await claimIdempotencyKeys(
    tx,
    sorted.map(([leader]) => claimOf(leader)),
  );
  const fresh = new Set<CreatePayin>();
  const repeats: { command: CreatePayin; payinId: string }[] = [];
  for (const [index, group] of sorted.entries()) {
    const [leader] = group;
    const holder = holders[index];
    if (!holder || holder.resourceId === leader.id) {
      fresh.add(leader);
      continue;
    }
    for (const command of group) {
      if (holder.bodyHash.equals(claimOf(command).bodyHash))
        repeats.push({ command, payinId: holder.resourceId });
      else answers.set(command, { kind: 'idempotency_mismatch' });
    }
  }
  await answerRepeats(tx, repeats, answers);
  return fresh;
}

async function answerRepeats(
  tx: Tx,
  repeats: readonly { command: CreatePayin; payinId: string }[],
  answers: Answers,
): Promise<void> {
  const wanted = new Map(
    repeats.map(({ command, payinId }) => [
      payinId,
      { organizationId: command.organization.id, id: payinId },
    ]),
  );
  const rows = new Map((await findPayins(tx, [...wanted.values()])).map((row) => [row.id, row]));
  for (const { command, payinId } of repeats) {
    const row = rows.get(payinId);
    if (!row) throw new Error('an idempotency key names a payin that does not exist');
    answers.set(command, { kind: 'replayed', payin: payinOf(row, command.secrets.dataKey) });
  }
}

/** @returns the commands whose reference is theirs; the others are answered and their idempotency keys given back */
async function claimNames(tx: Tx, groups: readonly Group[], answers: Answers): Promise<CreatePayin[]> {
  const sorted = groups.toSorted(([a], [b]) => byReference(a, b));
  const holders = await claimReferences(
    tx,
    'payin',
    sorted.map(([leader]) => ({
      organizationId: leader.organization.id,
      reference: leader.reference,
      resourceId: leader.id,
    })),
  );
  const granted: CreatePayin[] = [];
  const refused: CreatePayin[] = [];
  for (const [index, group] of sorted.entries()) {
    const existingId = holders[index] ?? '';
    for (const command of group) {
      if (existingId === command.id) granted.push(command);
      else {
        answers.set(command, { kind: 'reference_taken', existingId });
        refused.push(command);
      }
    }
  }
  await releaseIdempotencyKeys(tx, refused.filter((command) => command.idempotency !== null).map(claimOf));
  return granted;
}

function keyName(command: CreatePayin): string {
  return `${command.organization.id}:${claimOf(command).keyHash.toString('latin1')}`;
}

function referenceName(command: CreatePayin): string {
  return `${command.organization.id}:${command.reference}`;
}

function claimOf(command: CreatePayin) {
  if (!command.idempotency) throw new Error('this command carries no idempotency key');
  return { organizationId: command.organization.id, ...command.idempotency, resourceId: command.id };
}

function byKey(a: CreatePayin, b: CreatePayin): number {
  return (
    compare(a.organization.id, b.organization.id) || Buffer.compare(claimOf(a).keyHash, claimOf(b).keyHash)
  );
}

function byReference(a: CreatePayin, b: CreatePayin): number {
  return compare(a.organization.id, b.organization.id) || compare(a.reference, b.reference);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function newPayin(command: CreatePayin): NewPayin {
  const { id, organization, amount, reference, callbackUrl, source } = command;
  return {
    id,
    claimToken: command.claimToken,
    organizationId: organization.id,
    amount,
    status: FIRST_STATUS[command.source.rail],
    reference,
    sealedCustomer: sealCustomer(command.secrets.dataKey, command.customer, organization.id, id),
    callbackUrl,
    source,
    // Without its payer a PSE payin waits for the details; a Bre-B payin's due work is its key's.
    railDue: source.rail === 'PSE' && command.customer !== null,
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
    createdAt,
    updatedAt: createdAt,
    expiresAt,
    resultAt: null,
    chargebackAt: null,
  };
}
