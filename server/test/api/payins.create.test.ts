import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brebPayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

describe('smoke', () => {
  it('creates', async () => {
    const answer = await stack.api.post('/payins', brebPayin());
    expect(answer.status).toBe(201);
  });
});
