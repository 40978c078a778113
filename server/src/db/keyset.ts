import type { Position } from '../kit/cursor.ts';
import { uuidFloor } from '../kit/ids.ts';
import { type Statement, statement, type Tx } from './tx.ts';

/**
 * Processes read the database's time twice a second and stamp ids no earlier than that time; a minute covers the
 * difference. `caudal.id_ceiling` computes how much later ids can be: more after the database's clock went back.
 */
const MARGIN_MS = 60_000;

/**
 * The question for one page of an organization's rows, newest first. Keyset on the id: the primary key gives the order,
 * months are read one after the other and the scan stops as soon as the page is full, however large the table is.
 */
export class Keyset {
  readonly #alias: string;
  readonly #position: Position | null;
  readonly #values: unknown[];
  readonly #conditions: string[];
  #kinds: readonly string[] = [];
  /** Which conditions are set: each set is a statement of its own. */
  #shape = '';

  constructor(alias: string, organizationId: string, position: Position | null) {
    this.#alias = alias;
    this.#position = position;
    this.#values = [organizationId];
    this.#conditions = [`${alias}.organization_id = $1`];
    if (position) this.#add(`${alias}.id ${position.direction === 'newer' ? '>' : '<'} ?`, position.id);
  }

  /** @param condition where every `?` stands for the value; left out when the value is undefined */
  where(condition: string, value: unknown): this {
    this.#shape += value === undefined ? '0' : '1';
    if (value !== undefined) this.#add(condition, value);
    return this;
  }

  and(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  /** Rows of a span of time, by their column and, so that other months are not read, by their id. */
  between(column: string, from: Date | undefined, to: Date | undefined): this {
    const { id, time } = { id: `${this.#alias}.id`, time: `${this.#alias}.${column}` };
    this.where(`${time} >= ?`, from).where(`${time} < ?`, to);
    if (from) this.#add(`${id} >= ?`, uuidFloor(from.getTime() - MARGIN_MS));
    if (to) this.#add(`${id} < (select caudal.id_ceiling(?))`, to);
    return this;
  }

  /**
   * Rows of any of these kinds, each kind being a stretch of an index in the order of the page: a page of each is read and
   * they are merged. For an index that has the kind before the id; `any (…)` would have all rows of all kinds read and sorted.
   * @param conditions constant text, the same wherever the same values are left undefined; none leaves the question as it is
   */
  ofKinds(conditions: readonly string[]): this {
    this.#kinds = conditions;
    return this;
  }

  #add(condition: string, value: unknown): void {
    this.#values.push(value);
    this.#conditions.push(condition.replaceAll('?', `$${this.#values.length}`));
  }

  /** @param name of the question, with whatever `and` put into its text; PostgreSQL reads 63 characters of it all */
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
