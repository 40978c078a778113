import type { Position } from '../kit/cursor.ts';
import { uuidFloor } from '../kit/ids.ts';
import { type Statement, statement, type Tx } from './tx.ts';

/**
 * Processes read the database time twice a second and never generate ids earlier than it; one minute covers the
 * difference. `caudal.id_ceiling` computes the upper bound, which is larger after the database clock stepped back.
 */
const MARGIN_MS = 60_000;

export interface CreatedSpan {
  /** Created at or after. */
  readonly createdFrom?: Date | undefined;
  /** Created before. */
  readonly createdTo?: Date | undefined;
}

export interface ResourceFilters<Status> extends CreatedSpan {
  readonly status?: Status | undefined;
  readonly rail?: string | undefined;
  readonly reference?: string | undefined;
}

/**
 * Builds the query for one page of an organization's rows, newest first. Keyset pagination on the id: the primary key
 * provides the order, and the scan reads partitions one by one and stops when the page is full, regardless of table size.
 */
export class Keyset {
  readonly #alias: string;
  readonly #position: Position | null;
  readonly #values: unknown[];
  readonly #conditions: string[];
  #kinds: readonly string[] = [];
  /** Which optional conditions are set: each combination is a separate prepared statement. */
  #shape = '';

  constructor(alias: string, organizationId: string, position: Position | null) {
    this.#alias = alias;
    this.#position = position;
    this.#values = [organizationId];
    this.#conditions = [`${alias}.organization_id = $1`];
    if (position) this.#add(`${alias}.id ${position.direction === 'newer' ? '>' : '<'} ?`, position.id);
  }

  /** @param condition SQL in which each `?` is the value; skipped when the value is undefined */
  where(condition: string, value: unknown): this {
    this.#shape += value === undefined ? '0' : '1';
    if (value !== undefined) this.#add(condition, value);
    return this;
  }

  /** Applies the filters that payins, payouts and payment links share. */
  matching(kind: 'payin' | 'payout' | 'payment_link', filters: ResourceFilters<string>): this {
    const { status, rail, reference } = filters;
    return this.where(`${this.#alias}.status = ?`, status)
      .where(`${this.#alias}.rail = ?`, rail)
      .where(
        `${this.#alias}.id = (select r.resource_id from caudal.resource_references r where r.organization_id = $1 and r.kind = '${kind}' and r.reference = ?)`,
        reference,
      )
      .between('created_at', filters);
  }

  and(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  /** Restricts rows to a time range by `column`, and also by id so that other partitions are not read. */
  between(column: string, { createdFrom: from, createdTo: to }: CreatedSpan): this {
    const { id, time } = { id: `${this.#alias}.id`, time: `${this.#alias}.${column}` };
    this.where(`${time} >= ?`, from).where(`${time} < ?`, to);
    if (from) this.#add(`${id} >= ?`, uuidFloor(from.getTime() - MARGIN_MS));
    if (to) this.#add(`${id} < (select caudal.id_ceiling(?))`, to);
    return this;
  }

  /**
   * Restricts rows to any of these kinds. Each kind is a contiguous, ordered range of an index that has the kind before
   * the id: the query reads one page per kind and merges them. `any (…)` would read and sort all rows of all kinds.
   * @param conditions constant SQL, identical whenever the same values are undefined; an empty list adds no restriction
   */
  ofKinds(conditions: readonly string[]): this {
    this.#kinds = conditions;
    return this;
  }

  #add(condition: string, value: unknown): void {
    this.#values.push(value);
    this.#conditions.push(condition.replaceAll('?', `$${this.#values.length}`));
  }

  /** @param name identifies the statement, including any SQL added by `and`; PostgreSQL truncates names to 63 characters */
  async read<Row extends object>(tx: Tx, name: string, select: string, limit: number): Promise<Row[]> {
    const newer = this.#position?.direction === 'newer';
    const values = [...this.#values, limit];
    const order = (id: string) => `order by ${id} ${newer ? 'asc' : 'desc'} limit $${values.length}`;
    const page = (conditions: readonly string[]) =>
      `${select} where ${conditions.join(' and ')} ${order(`${this.#alias}.id`)}`;
    const pages = this.#kinds.map((kind) => `(${page([...this.#conditions, kind])})`);
    const text = pages.length === 0 ? page(this.#conditions) : `${pages.join(' union all ')} ${order('id')}`;
    const shape: Statement = statement(
      `${name}:${this.#shape}:${this.#position?.direction ?? 'first'}`,
      text,
    );
    const rows = await tx.query<Row>(shape, values);
    return newer ? rows.toReversed() : rows;
  }
}
