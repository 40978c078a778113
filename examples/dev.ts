/** Starts `npm run dev` for the tests of the examples. */
import { type DevStack, startDevStack } from '../scripts/stack/dev-stack.ts';

export interface Dev extends DevStack {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

export async function startDev(): Promise<Dev> {
  const stack = await startDevStack();
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { 'x-api-key': stack.apiKey, 'content-type': 'application/json' };
    const response = await fetch(stack.baseUrl + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    ...stack,
    get: (path) => call(path, {}),
    post: (path, body) => call(path, { method: 'POST', body: JSON.stringify(body) }),
  };
}
