import { Pool } from 'pg';

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

export interface Processing {
  /** One: an empty job. Two: the result of the first step is durable before the second starts. */
  readonly steps: 1 | 2;
  /** Called after the last step of an item. */
  readonly done: (id: string) => void;
}

/** How the bench uses one engine. */
export interface EngineDriver {
  install(databaseUrl: string): Promise<unknown>;
  /** @param processing null: items are only created */
  open(databaseUrl: string, processing: Processing | null): Promise<Engine>;
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

export function openPool(databaseUrl: string): Pool {
  return new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
}
