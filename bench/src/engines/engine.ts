/** Connections of every engine to its database. */
export const CONNECTIONS = 16;
/** Items of one call to a batch API. */
export const SET_SIZE = 50;

/** An engine that is connected to its database. */
export interface Engine {
  /** Resolves when the item is durable. */
  create(id: string): Promise<unknown>;
  /** Resolves when all items are durable. */
  createSet(ids: readonly string[]): Promise<unknown>;
  close(): Promise<unknown>;
}

/** How the bench uses one engine. */
export interface EngineDriver {
  install(databaseUrl: string): Promise<unknown>;
  /** @param done called after the second step of an item; null: items are only created, and nothing processes them */
  open(databaseUrl: string, done: ((id: string) => void) | null): Promise<Engine>;
  /** Counts the items that are stored and not completed. */
  readonly unfinished: string;
}

/** The data of an item, of the size of a typical payin. */
export interface Item {
  readonly id: string;
  readonly amountInCents: number;
  readonly reference: string;
  readonly callbackUrl: string;
  readonly customer: string;
}

export function makeItem(id: string): Item {
  return {
    id,
    amountInCents: 4_980_000,
    reference: `order-${id}`,
    callbackUrl: 'https://shop.example.com/thanks',
    customer: 'x'.repeat(160),
  };
}
