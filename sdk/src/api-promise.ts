import type { ResponseMetadata } from './response-metadata.ts';

/** The result of a call and the response that carried it. */
export interface WithResponse<Data> {
  readonly data: Data;
  readonly response: ResponseMetadata;
}

/**
 * The promise of a call. `await` gives the data alone.
 * @example
 * const { data: payin, response } = await caudal.payins.create(body).withResponse();
 * console.log(payin.id, response.requestId, response.replayed);
 */
export interface ApiPromise<Data> extends Promise<Data> {
  /** The data and the response: request id, whether it is a replay, rate limits. Sends no further request. */
  withResponse(): Promise<WithResponse<Data>>;
}

/**
 * A native promise with one more method, not a subclass: `then` returns a plain promise, and errors keep the stack of the
 * caller.
 */
export function toApiPromise<Data>(answer: Promise<WithResponse<Data>>): ApiPromise<Data> {
  const data = readData(answer);
  const withResponse = (): Promise<WithResponse<Data>> => {
    // The caller handles the failure on the returned promise: here it would be an unhandled rejection.
    data.catch(() => undefined);
    return answer.then((both) => both);
  };
  return Object.defineProperty(data, 'withResponse', { value: withResponse }) as ApiPromise<Data>;
}

async function readData<Data>(answer: Promise<WithResponse<Data>>): Promise<Data> {
  return (await answer).data;
}
