import type { Tx } from '../../db/tx.ts';
import { releaseIdempotencyKeys, reserveIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import {
  type ReferenceKind,
  releaseReferences,
  reserveReferences,
} from '../../idempotency/reference.store.ts';
import type { ApiError } from '../../kit/errors.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';

/** A command to create something for a merchant: once per idempotency key, once per reference. */
export interface Creation {
  /** Made before the batch, so a batch that is tried again creates the same resource. */
  readonly id: string;
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly idempotency: { readonly keyHash: Buffer; readonly bodyHash: Buffer } | null;
  readonly reference: string;
}

export type Created<Resource> =
  | { readonly kind: 'created'; readonly resource: Resource }
  /** The same request was answered before; the resource as it stands now. */
  | { readonly kind: 'replayed'; readonly resource: Resource }
  | { readonly kind: 'reference_taken'; readonly existingId: string }
  | { readonly kind: 'idempotency_mismatch' }
  | { readonly kind: 'refused'; readonly fault: ApiError };

/** What is particular about the thing that is created. */
export interface CreationKind<Command extends Creation, Resource> {
  readonly referenceKind: ReferenceKind;
  /** Those that exist already, for repeats: one for each that is wanted, in order. */
  find(
    tx: Tx,
    wanted: readonly { command: Command; id: string }[],
  ): Promise<readonly (Resource | undefined)[]>;
  /** Which commands cannot be carried out, seen only inside the transaction. Nothing of them is remembered. */
  refuse?(tx: Tx, commands: readonly Command[]): Promise<ReadonlyMap<Command, ApiError>>;
  /** Writes them, all at once. Answers in the order of the commands. */
  insert(tx: Tx, commands: readonly Command[]): Promise<readonly Resource[]>;
}

/**
 * Creates in the caller's transaction: idempotency keys and references claimed, then written. Answers in the order of
 * the commands. Nearly always one round; see `createRound` for what may be left to the next.
 */
export async function createOnce<Command extends Creation, Resource>(
  tx: Tx,
  kind: CreationKind<Command, Resource>,
  commands: readonly Command[],
): Promise<Created<Resource>[]> {
  const round = new Round(tx, kind);
  let left = commands;
  while (left.length > 0) {
    await round.create(left);
    left = left.filter((command) => !round.answers.has(command));
  }
  return commands.map((command) => round.answers.get(command) as Created<Resource>);
}

type Group<Command> = [Command, ...Command[]];

class Round<Command extends Creation, Resource> {
  readonly answers = new Map<Command, Created<Resource>>();
  readonly #tx: Tx;
  readonly #kind: CreationKind<Command, Resource>;

  constructor(tx: Tx, kind: CreationKind<Command, Resource>) {
    this.#tx = tx;
    this.#kind = kind;
  }

  /**
   * Commands that share an idempotency key or a reference would collide inside one statement, so the first of each
   * leads and the rest take their answer from what became of it. Left without an answer is only a command whose key was
   * led by a different body that came to nothing: the key is free again.
   */
  async create(commands: readonly Command[]): Promise<void> {
    const keyed = grouped(
      commands.filter((command) => command.idempotency !== null),
      keyName,
    );
    const leaders = await this.#leaseKeys([...keyed.values()]);
    // In the order they came: the first of those that share a reference gets it.
    const fresh = commands.filter((command) => command.idempotency === null || leaders.has(command));
    const named = await this.#claimNames([...grouped(fresh, referenceName).values()]);
    const granted = await this.#refuse(commands.filter((command) => named.has(command)));
    if (granted.length > 0) {
      const resources = await this.#kind.insert(this.#tx, granted);
      for (const [index, command] of granted.entries())
        this.answers.set(command, { kind: 'created', resource: resources[index] as Resource });
    }
    for (const [leader, ...followers] of keyed.values()) {
      for (const follower of followers) if (!this.answers.has(follower)) this.#follow(leader, follower);
    }
  }

  /** The answer of a command whose key another command of the same batch has led. */
  #follow(leader: Command, follower: Command): void {
    const led = this.answers.get(leader);
    const same = claimOf(leader).bodyHash.equals(claimOf(follower).bodyHash);
    if (led?.kind === 'created')
      this.answers.set(
        follower,
        same ? { kind: 'replayed', resource: led.resource } : { kind: 'idempotency_mismatch' },
      );
    else if (led && same) this.answers.set(follower, led);
  }

  /** @returns the leaders whose key is new; repeats of an earlier request are answered, whole groups of them */
  async #leaseKeys(groups: readonly Group<Command>[]): Promise<Set<Command>> {
    const sorted = groups.toSorted(([a], [b]) => byKey(a, b));
    const holders = await reserveIdempotencyKeys(
      this.#tx,
      sorted.map(([leader]) => claimOf(leader)),
    );
    const fresh = new Set<Command>();
    const repeats: { command: Command; id: string }[] = [];
    for (const [index, group] of sorted.entries()) {
      const [leader] = group;
      const holder = holders[index];
      if (!holder || holder.resourceId === leader.id) {
        fresh.add(leader);
        continue;
      }
      for (const command of group) {
        if (holder.bodyHash.equals(claimOf(command).bodyHash))
          repeats.push({ command, id: holder.resourceId });
        else this.answers.set(command, { kind: 'idempotency_mismatch' });
      }
    }
    await this.#answerRepeats(repeats);
    return fresh;
  }

  async #answerRepeats(repeats: readonly { command: Command; id: string }[]): Promise<void> {
    if (repeats.length === 0) return;
    const resources = await this.#kind.find(this.#tx, repeats);
    for (const [index, { command }] of repeats.entries()) {
      const resource = resources[index];
      if (resource === undefined)
        throw new Error(`an idempotency key names a ${this.#kind.referenceKind} that does not exist`);
      this.answers.set(command, { kind: 'replayed', resource });
    }
  }

  /**
   * After keys and references: a repeat is answered as ever, also when by now it could no longer be carried out; and
   * "refused" is told only of what does not exist.
   */
  async #refuse(commands: readonly Command[]): Promise<readonly Command[]> {
    const refusals = await this.#kind.refuse?.(this.#tx, commands);
    if (!refusals || refusals.size === 0) return commands;
    for (const [command, fault] of refusals) this.answers.set(command, { kind: 'refused', fault });
    const refused = [...refusals.keys()];
    await this.#giveBack(refused);
    await releaseReferences(this.#tx, this.#kind.referenceKind, refused.map(nameOf));
    return commands.filter((command) => !refusals.has(command));
  }

  /** @returns the commands whose reference is theirs; the others are answered and their idempotency keys given back */
  async #claimNames(groups: readonly Group<Command>[]): Promise<Set<Command>> {
    const sorted = groups.toSorted(([a], [b]) => byReference(a, b));
    const holders = await reserveReferences(
      this.#tx,
      this.#kind.referenceKind,
      sorted.map(([leader]) => nameOf(leader)),
    );
    const granted = new Set<Command>();
    const refused: Command[] = [];
    for (const [index, group] of sorted.entries()) {
      const existingId = holders[index] ?? '';
      for (const command of group) {
        if (existingId === command.id) granted.add(command);
        else {
          this.answers.set(command, { kind: 'reference_taken', existingId });
          refused.push(command);
        }
      }
    }
    await this.#giveBack(refused);
    return granted;
  }

  async #giveBack(commands: readonly Command[]): Promise<void> {
    await releaseIdempotencyKeys(
      this.#tx,
      commands.filter((command) => command.idempotency !== null).map(claimOf),
    );
  }
}

function grouped<Command>(
  commands: readonly Command[],
  nameOf: (command: Command) => string,
): Map<string, Group<Command>> {
  const groups = new Map<string, Group<Command>>();
  for (const command of commands) {
    const name = nameOf(command);
    const group = groups.get(name);
    if (group) group.push(command);
    else groups.set(name, [command]);
  }
  return groups;
}

function keyName(command: Creation): string {
  return `${command.organization.id}:${claimOf(command).keyHash.toString('latin1')}`;
}

function referenceName(command: Creation): string {
  return `${command.organization.id}:${command.reference}`;
}

function nameOf({ organization, reference, id }: Creation) {
  return { organizationId: organization.id, reference, resourceId: id };
}

function claimOf(command: Creation) {
  if (!command.idempotency) throw new Error('this command carries no idempotency key');
  return { organizationId: command.organization.id, ...command.idempotency, resourceId: command.id };
}

function byKey(a: Creation, b: Creation): number {
  return (
    compare(a.organization.id, b.organization.id) || Buffer.compare(claimOf(a).keyHash, claimOf(b).keyHash)
  );
}

function byReference(a: Creation, b: Creation): number {
  return compare(a.organization.id, b.organization.id) || compare(a.reference, b.reference);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
