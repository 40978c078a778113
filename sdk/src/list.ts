import type { WithResponse } from './api-promise.ts';
import type { PageInfo } from './generated/schemas.ts';
import type { ResponseMetadata } from './response-metadata.ts';

export interface ListResponse<Item> {
  readonly data: Item[];
  /** Missing in lists that have a single page. */
  readonly pageInfo?: PageInfo;
}

type Read<Item> = (cursor: string | null) => Promise<WithResponse<ListResponse<Item>>>;

const SINGLE_PAGE: PageInfo = { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null };

/** One page of a list, newest first. */
export class Page<Item> {
  readonly data: Item[];
  readonly pageInfo: PageInfo;
  readonly #read: Read<Item>;
  readonly #response: ResponseMetadata;

  constructor({ data, response }: WithResponse<ListResponse<Item>>, read: Read<Item>) {
    this.data = data.data;
    this.pageInfo = data.pageInfo ?? SINGLE_PAGE;
    this.#read = read;
    this.#response = response;
  }

  /** The response that carried this page: request id, rate limits. Not part of the page's JSON. */
  get response(): ResponseMetadata {
    return this.#response;
  }

  /** Older items; null after the last page. */
  nextPage(): Promise<Page<Item> | null> {
    return this.#at(this.pageInfo.nextCursor);
  }

  /** Newer items; null before the first page. */
  previousPage(): Promise<Page<Item> | null> {
    return this.#at(this.pageInfo.previousCursor);
  }

  async #at(cursor: string | null): Promise<Page<Item> | null> {
    return cursor === null ? null : new Page(await this.#read(cursor), this.#read);
  }
}

/**
 * `await` returns the first page, `for await` iterates over the items of all pages. No request is sent before that.
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

  // oxlint-disable-next-line unicorn/no-thenable -- a list can be awaited like a call, and iterated
  then<Fulfilled = Page<Item>, Rejected = never>(
    onFulfilled?: ((page: Page<Item>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let page: Page<Item> | null = await this.#firstPage(); page; page = await page.nextPage())
      yield* page.data;
  }

  /** Iterates over pages. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let page: Page<Item> | null = await this.#firstPage(); page; page = await page.nextPage())
      yield page;
  }

  /** Items of all pages, up to `limit`: a list may be larger than memory. */
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
