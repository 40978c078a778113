import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { releaseIdempotencyKeys, reserveIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import {
  type ReferenceKind,
  releaseReferences,
  reserveReferences,
} from '../../idempotency/reference.store.ts';
import type { Actor } from '../../kit/actor.ts';
import type { ApiError } from '../../kit/errors.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { packTraceContext } from '../../kit/trace-context.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { type TracedCommand, traceCommit } from './trace-commit.ts';

/** A command to create a resource for a merchant: once per idempotency key and once per reference. */
export interface Creation {
  /** Generated before the batch, so that a retried batch creates the same resource. */
  readonly id: string;
  readonly organization: Organization;
  /** The API key that the caller used, also through a token. */
  readonly apiKeyId: string;
  readonly secrets: OrganizationSecrets;
  readonly idempotency: { readonly keyHash: Buffer; readonly bodyHash: Buffer } | null;
  readonly reference: string;
  /** The API key that sent the request. */
  readonly createdBy: Actor;
  readonly trace: TracedCommand['trace'];
}

export type Created<Resource> =
  | { readonly kind: 'created'; readonly resource: Resource }
  /** The same request was answered before; the resource in its current state. */
  | { readonly kind: 'replayed'; readonly resource: Resource }
  | { readonly kind: 'reference_taken'; readonly existingId: string }
  | { readonly kind: 'idempotency_mismatch' }
  | { readonly kind: 'rejected'; readonly error: ApiError };

/** The operations specific to a resource type. */
export interface CreationKind<Command extends Creation, Resource> {
  readonly referenceKind: ReferenceKind;
  /** Names the transaction in logs. */
  readonly task: Parameters<Deps['batch']['write']>[0];
  /** Finds existing resources for replays, in the given order. */
  find(
    tx: Tx,
    wanted: readonly { command: Command; id: string }[],
  ): Promise<readonly (Resource | undefined)[]>;
  /** Finds commands that must be rejected, by data of the transaction. Their keys and references are released. */
  reject?(tx: Tx, commands: readonly Command[]): Promise<ReadonlyMap<Command, ApiError>>;
  /** Inserts the resources in one statement. Returns them in the order of the commands. */
  insert(tx: Tx, commands: readonly Command[]): Promise<readonly Resource[]>;
}

/** Creates resources in one transaction. Returns the answers in the order of the commands. */
export function createBatch<Command extends Creation, Resource>(
  { batch, tracer }: Pick<Deps, 'batch' | 'tracer'>,
  kind: CreationKind<Command, Resource>,
  commands: readonly Command[],
  waitForLocks: boolean,
): Promise<Created<Resource>[]> {
  const organizations = new Set(commands.map((command) => command.organization.id));
  return traceCommit(tracer, kind.task, commands, () =>
    batch.write(kind.task, organizations, (tx) => createOnce(tx, kind, commands), waitForLocks),
  );
}

/** The stored form of a command's trace. */
export function storedTrace({ trace }: Pick<Creation, 'trace'>): Buffer | null {
  return packTraceContext(trace?.context ?? null);
}

/** Builds `find` of a creation kind from the functions of the resource's store. */
export function replayFinder<Row extends { readonly id: string }, Resource>(
  findRows: (tx: Tx, ids: readonly RowId[]) => Promise<readonly Row[]>,
  fromRow: (row: Row, dataKey: KeyRing) => Resource,
): CreationKind<Creation, Resource>['find'] {
  return async (tx, wanted) => {
    const distinct = new Map(
      wanted.map(({ command, id }) => [id, { organizationId: command.organization.id, id }]),
    );
    const rows = new Map((await findRows(tx, [...distinct.values()])).map((row) => [row.id, row]));
    return wanted.map(({ command, id }) => {
      const row = rows.get(id);
      return row && fromRow(row, command.secrets.dataKey);
    });
  };
}

/**
 * Creates resources in the caller's transaction: reserves idempotency keys and references, then inserts. Returns the
 * answers in the order of the commands. One round is nearly always enough; `Round.create` says when another is needed.
 */
async function createOnce<Command extends Creation, Resource>(
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
   * Commands that share an idempotency key or a reference would collide inside one statement. The first of each group
   * leads, and the others derive their answer from its result. A command stays unanswered only if the leader of its key
   * had a different body and created nothing: the key is then free again.
   */
  async create(commands: readonly Command[]): Promise<void> {
    const keyed = grouped(
      commands.filter((command) => command.idempotency !== null),
      toKeyGroup,
    );
    const leaders = await this.#reserveKeys([...keyed.values()]);
    // In the order of arrival: the first command with a reference gets it.
    const fresh = commands.filter((command) => command.idempotency === null || leaders.has(command));
    const reserved = await this.#reserveReferences([...grouped(fresh, toReferenceGroup).values()]);
    const granted = await this.#reject(commands.filter((command) => reserved.has(command)));
    if (granted.length > 0) {
      const resources = await this.#kind.insert(this.#tx, granted);
      for (const [index, command] of granted.entries())
        this.answers.set(command, { kind: 'created', resource: resources[index] as Resource });
    }
    for (const [leader, ...followers] of keyed.values()) {
      for (const follower of followers) if (!this.answers.has(follower)) this.#follow(leader, follower);
    }
  }

  /** Answers a command whose idempotency key another command of the same batch leads. */
  #follow(leader: Command, follower: Command): void {
    const result = this.answers.get(leader);
    const same = toKeyReservation(leader).bodyHash.equals(toKeyReservation(follower).bodyHash);
    if (result?.kind === 'created')
      this.answers.set(
        follower,
        same ? { kind: 'replayed', resource: result.resource } : { kind: 'idempotency_mismatch' },
      );
    else if (result && same) this.answers.set(follower, result);
  }

  /** Answers groups that repeat an earlier request. @returns the leaders whose key is new */
  async #reserveKeys(groups: readonly Group<Command>[]): Promise<Set<Command>> {
    const sorted = groups.toSorted(([a], [b]) => compareKeys(a, b));
    const holders = await reserveIdempotencyKeys(
      this.#tx,
      sorted.map(([leader]) => toKeyReservation(leader)),
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
        if (holder.bodyHash.equals(toKeyReservation(command).bodyHash))
          repeats.push({ command, id: holder.resourceId });
        else this.answers.set(command, { kind: 'idempotency_mismatch' });
      }
    }
    await this.#replay(repeats);
    return fresh;
  }

  async #replay(repeats: readonly { command: Command; id: string }[]): Promise<void> {
    if (repeats.length === 0) return;
    const resources = await this.#kind.find(this.#tx, repeats);
    for (const [index, { command }] of repeats.entries()) {
      const resource = resources[index];
      if (resource === undefined)
        throw new Error(`an idempotency key refers to a ${this.#kind.referenceKind} that does not exist`);
      this.answers.set(command, { kind: 'replayed', resource });
    }
  }

  /**
   * Runs after keys and references are reserved: a repeat is replayed even if it would be rejected now, and a rejection
   * always means that the resource does not exist.
   */
  async #reject(commands: readonly Command[]): Promise<readonly Command[]> {
    const rejections = await this.#kind.reject?.(this.#tx, commands);
    if (!rejections || rejections.size === 0) return commands;
    for (const [command, error] of rejections) this.answers.set(command, { kind: 'rejected', error });
    const rejected = [...rejections.keys()];
    await this.#releaseKeys(rejected);
    await releaseReferences(this.#tx, this.#kind.referenceKind, rejected.map(toReferenceReservation));
    return commands.filter((command) => !rejections.has(command));
  }

  /** Answers the commands whose reference is taken and releases their keys. @returns the other commands */
  async #reserveReferences(groups: readonly Group<Command>[]): Promise<Set<Command>> {
    const sorted = groups.toSorted(([a], [b]) => compareReferences(a, b));
    const holders = await reserveReferences(
      this.#tx,
      this.#kind.referenceKind,
      sorted.map(([leader]) => toReferenceReservation(leader)),
    );
    const granted = new Set<Command>();
    const taken: Command[] = [];
    for (const [index, group] of sorted.entries()) {
      const existingId = holders[index] ?? '';
      for (const command of group) {
        if (existingId === command.id) granted.add(command);
        else {
          this.answers.set(command, { kind: 'reference_taken', existingId });
          taken.push(command);
        }
      }
    }
    await this.#releaseKeys(taken);
    return granted;
  }

  async #releaseKeys(commands: readonly Command[]): Promise<void> {
    await releaseIdempotencyKeys(
      this.#tx,
      commands.filter((command) => command.idempotency !== null).map(toKeyReservation),
    );
  }
}

function grouped<Command>(
  commands: readonly Command[],
  toGroup: (command: Command) => string,
): Map<string, Group<Command>> {
  const groups = new Map<string, Group<Command>>();
  for (const command of commands) {
    const name = toGroup(command);
    const group = groups.get(name);
    if (group) group.push(command);
    else groups.set(name, [command]);
  }
  return groups;
}

function toKeyGroup(command: Creation): string {
  return `${command.organization.id}:${toKeyReservation(command).keyHash.toString('latin1')}`;
}

function toReferenceGroup(command: Creation): string {
  return `${command.organization.id}:${command.reference}`;
}

function toReferenceReservation({ organization, reference, id }: Creation) {
  return { organizationId: organization.id, reference, resourceId: id };
}

function toKeyReservation(command: Creation) {
  if (!command.idempotency) throw new Error('the command has no idempotency key');
  return { organizationId: command.organization.id, ...command.idempotency, resourceId: command.id };
}

function compareKeys(a: Creation, b: Creation): number {
  return (
    compare(a.organization.id, b.organization.id) ||
    Buffer.compare(toKeyReservation(a).keyHash, toKeyReservation(b).keyHash)
  );
}

function compareReferences(a: Creation, b: Creation): number {
  return compare(a.organization.id, b.organization.id) || compare(a.reference, b.reference);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
