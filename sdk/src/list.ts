import type { PageInfo } from './generated/schemas.ts';

export interface ListAnswer<Item> {
  readonly data: Item[];
  /** Left out by lists that are always whole. */
  readonly pageInfo?: PageInfo;
}

type Read<Item> = (cursor: string | null) => Promise<ListAnswer<Item>>;

const WHOLE: PageInfo = { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null };

/** One page of a list, newest first. */
export class Page<Item> {
  readonly data: Item[];
  readonly pageInfo: PageInfo;
  readonly #read: Read<Item>;

  constructor(answer: ListAnswer<Item>, read: Read<Item>) {
    this.data = answer.data;
    this.pageInfo = answer.pageInfo ?? WHOLE;
    this.#read = read;
  }

  /** Older ones; null after the last page. */
  nextPage(): Promise<Page<Item> | null> {
    return this.#at(this.pageInfo.nextCursor);
  }

  /** Newer ones; null before the first page. */
  previousPage(): Promise<Page<Item> | null> {
    return this.#at(this.pageInfo.previousCursor);
  }

  async #at(cursor: string | null): Promise<Page<Item> | null> {
    return cursor === null ? null : new Page(await this.#read(cursor), this.#read);
  }
}

/**
 * `await` gives the first page, `for await` every item of every page. Nothing is asked before either.
 * @example
 * const page = await caudal.payins.list({ pageSize: 50 });
 * for await (const payin of caudal.payins.list({ status: 'CONFIRMED' })) console.log(payin.reference);
 */
export class List<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #read: Read<Item>;
  #first: Promise<Page<Item>> | null = null;

  constructor(read: Read<Item>) {
    this.#read = read;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a list is awaited like any call, and iterated like none
  then<Kept = Page<Item>, Caught = never>(
    kept?: ((page: Page<Item>) => Kept | PromiseLike<Kept>) | null,
    caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#firstPage().then(kept, caught);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let page: Page<Item> | null = await this.#firstPage(); page; page = await page.nextPage())
      yield* page.data;
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let page: Page<Item> | null = await this.#firstPage(); page; page = await page.nextPage())
      yield page;
  }

  /** All items of all pages, at most so many: a list may be longer than memory. */
  async toArray({ limit }: { readonly limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) if (items.push(item) >= limit) break;
    return items;
  }

  #firstPage(): Promise<Page<Item>> {
    this.#first ??= this.#read(null).then((answer) => new Page(answer, this.#read));
    return this.#first;
  }
}
