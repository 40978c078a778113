import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPayin, problemOf } from '../harness/payin-answers.ts';
import { psePayin, without } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

interface BankList {
  readonly data: readonly { readonly code: string; readonly name: string; readonly available: boolean }[];
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function banks(): Promise<BankList['data']> {
  const answer = await stack.api.get<BankList>('/pse/banks');
  expect(answer.status).toBe(200);
  return answer.body.data;
}

describe('GET /pse/banks', () => {
  it('lists every bank with code, name and availability, and nothing else', async () => {
    const list = await banks();
    expect(list.length).toBeGreaterThan(40);
    for (const bank of list) {
      expect(Object.keys(bank)).toEqual(['code', 'name', 'available']);
      expect(bank.name.trim()).not.toBe('');
      expect(typeof bank.available).toBe('boolean');
    }
  });

  it('writes codes as country prefix, underscore and bank name, each once', async () => {
    const codes = (await banks()).map(({ code }) => code);
    for (const code of codes) expect(code).toMatch(/^CO_[A-Z0-9]+(?:_[A-Z0-9]+)*$/);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('has no two banks of the same name', async () => {
    const names = (await banks()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('puts the wallets people look for first in front', async () => {
    const codes = (await banks()).map(({ code }) => code);
    expect(codes.slice(0, 2)).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('shows names with their accents, as UTF-8', async () => {
    const list = await banks();
    expect(list.find(({ code }) => code === 'CO_ITAU')?.name).toBe('Itaú');
    expect(list.find(({ code }) => code === 'CO_BOGOTA')?.name).toBe('Banco de Bogotá');
  });

  it('lists exactly what POST /payins takes: a payin can be created for every bank listed', async () => {
    const list = await banks();
    const payins = await Promise.all(
      list.map(({ code: bank }) =>
        createPayin(
          stack.api,
          without(psePayin({ pse: { bank, personType: 'BUSINESS' } }), 'inlineCustomer'),
        ),
      ),
    );
    expect(payins.map(({ sourceData }) => sourceData.bank)).toEqual(list.map(({ code }) => code));
  });

  it('is the same for every organization, whatever rails it has', async () => {
    const { apiKey } = await stack.newOrganization('--rails', 'BRE_B');
    const theirs = await stack.api.as(apiKey).get<BankList>('/pse/banks');
    expect(theirs.body.data).toEqual(await banks());
  });

  it('refuses a query parameter, for it has none', async () => {
    expect(problemOf(await stack.api.get('/pse/banks?available=true'))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['query.available unknown_field'],
    });
  });
});
