import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { BankList } from '../../src/flows/payins/read-banks.ts';
import { refreshBanks } from '../../src/flows/payins/refresh-banks.system.ts';
import type { Principal } from '../../src/organizations/organization.ts';
import { BANKS } from '../../src/rails/pse/banks.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { type FaultyPeer, json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

interface Banks {
  readonly data: readonly { readonly code: string; readonly name: string; readonly available: boolean }[];
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function listBanks(): Promise<Banks['data']> {
  const answer = await stack.api.get<Banks>('/pse/banks');
  expect(answer.status).toBe(200);
  return answer.body.data;
}

describe('GET /pse/banks', () => {
  it('lists every bank with code, name and availability only', async () => {
    const list = await listBanks();
    expect(list.length).toBeGreaterThan(40);
    for (const bank of list) {
      expect(Object.keys(bank)).toEqual(['code', 'name', 'available']);
      expect(bank.name.trim()).not.toBe('');
      expect(typeof bank.available).toBe('boolean');
    }
  });

  it('has unique codes of country prefix, underscore and bank name', async () => {
    const codes = (await listBanks()).map(({ code }) => code);
    for (const code of codes) expect(code).toMatch(/^CO_[A-Z0-9]+(?:_[A-Z0-9]+)*$/);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('has unique names', async () => {
    const names = (await listBanks()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('lists the most used wallets first', async () => {
    const codes = (await listBanks()).map(({ code }) => code);
    expect(codes.slice(0, 2)).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('has names with accents, as UTF-8', async () => {
    const list = await listBanks();
    expect(list.find(({ code }) => code === 'CO_ITAU')?.name).toBe('Itaú');
    expect(list.find(({ code }) => code === 'CO_BOGOTA')?.name).toBe('Banco de Bogotá');
  });

  it('lists exactly the banks that POST /payins accepts', async () => {
    const list = await listBanks();
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

  it('is the same for every organization, whatever its rails', async () => {
    const { apiKey } = await stack.newOrganization('--rails', 'BRE_B');
    const theirs = await stack.api.as(apiKey).get<Banks>('/pse/banks');
    expect(theirs.body.data).toEqual(await listBanks());
  });

  it('rejects a query parameter', async () => {
    expect(toProblem(await stack.api.get('/pse/banks?available=true'))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['query.available unknown_field'],
    });
  });
});

describe('the bank list of PSE', () => {
  const bankListReply = (...codes: readonly string[]) =>
    json({ banks: codes.map((code) => ({ code, name: `BANCO ${code}` })) });

  let database: TestDatabase;
  let peer: FaultyPeer;
  let reply: PeerReply;
  let caudal: InProcess;
  let principal: Principal;
  beforeAll(async () => {
    database = await cloneDatabase();
    peer = await startFaultyPeer(() => reply);
    caudal = await composeInProcess({ ...settingsFor(database.ownerUrl), PSE_URL: peer.url });
    ({ principal } = await caudal.newOrganization());
  });
  afterEach(() => database.query('delete from caudal.pse_banks'));
  afterAll(async () => {
    await caudal?.close();
    await peer?.stop();
    await database?.drop();
  });

  const refresh = async (answer: PeerReply) => {
    reply = answer;
    await refreshBanks(caudal.deps);
  };
  /** As a process sees it that has not cached the list. */
  const readAvailable = async () => {
    const isOffered = await new BankList(caudal.deps).offered(principal);
    return BANKS.filter(({ networkCode }) => isOffered(networkCode)).map(({ code }) => code);
  };
  const readStoredBanks = () =>
    database.query('select network_code, name, seen_at from caudal.pse_banks order by network_code');

  it('contains every bank until PSE was queried', async () => {
    expect(await readAvailable()).toHaveLength(BANKS.length);
  });

  it('is the newest list; a removed bank keeps its row and returns when listed again', async () => {
    await refresh(bankListReply('0', '1507', '1551', '1007'));
    expect(await readAvailable()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA', 'CO_BANCOLOMBIA']);
    await refresh(bankListReply('1507', '1051'));
    expect(await readAvailable()).toEqual(['CO_NEQUI', 'CO_DAVIVIENDA']);
    expect(await readStoredBanks()).toMatchObject([
      { network_code: '1007' },
      { network_code: '1051' },
      { network_code: '1507' },
      { network_code: '1551' },
    ]);
    await refresh(bankListReply('1507', '1551'));
    expect(await readAvailable()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it.each<[string, PeerReply]>([
    ['an empty list', json({ banks: [] })],
    ['only the placeholder entry', json({ banks: [{ code: '0', name: 'Elija su banco' }] })],
    ['something that is not a list', json({ banks: 'all of them' })],
    ['a bank without its code', json({ banks: [{ code: '1507', name: 'NEQUI' }, { name: 'BANCOLOMBIA' }] })],
    ['something that is not JSON', { text: '<html>mantenimiento</html>' }],
    ['a truncated list', { text: '{"banks":[{"code":"1507","na' }],
    ['an error', json({ code: 'FAIL_ACCESSDENIED' }, 401)],
    ['an outage', json({}, 503)],
  ])('does not change with %s', async (_what, answer) => {
    await refresh(bankListReply('1507', '1551'));
    const before = await readStoredBanks();
    await expect(refresh(answer)).rejects.toThrow('PSE gave no bank list');
    expect(await readStoredBanks()).toEqual(before);
    expect(await readAvailable()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('does not change with an older list that arrives late', async () => {
    await refresh(bankListReply('1507', '1551'));
    await database.query("update caudal.pse_banks set seen_at = seen_at + interval '1 minute'");
    await refresh(bankListReply('1507', '1551', '1007'));
    expect(await readAvailable()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('is cached for half a minute, and the cache is used when the database does not answer', async () => {
    await refresh(bankListReply('1507'));
    let reads = 0;
    let unreachable = false;
    let passedMs = 0;
    const list = new BankList(
      {
        ...caudal.deps,
        read: {
          read: (id, work) => {
            reads += 1;
            return unreachable ? Promise.reject(new Error('away')) : caudal.deps.read.read(id, work);
          },
        },
      },
      () => passedMs,
    );
    const readShown = async () => {
      const isOffered = await list.offered(principal);
      return BANKS.filter(({ networkCode }) => isOffered(networkCode)).map(({ code }) => code);
    };
    expect(await Promise.all([readShown(), readShown()])).toEqual([['CO_NEQUI'], ['CO_NEQUI']]);
    await refresh(bankListReply('1551'));
    passedMs = 29_000;
    expect(await readShown()).toEqual(['CO_NEQUI']);
    expect(reads).toBe(1);
    unreachable = true;
    passedMs = 31_000;
    expect(await readShown()).toEqual(['CO_NEQUI']);
    unreachable = false;
    expect(await readShown()).toEqual(['CO_DAVIPLATA']);
  });
});

describe('a bank that PSE does not offer today', () => {
  it('is listed as not available, and a payin for it is accepted: PSE decides', async () => {
    await stack.command('schedules', 'run', 'bank-list');
    await stack.database.query(
      "update caudal.pse_banks set seen_at = seen_at - interval '1 day' where network_code = '1007'",
    );
    // The list is cached for half a minute: use a process that has not read it.
    const fresh = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
    try {
      const api = stack.api.at(`http://127.0.0.1:${String(fresh.ready['port'])}`);
      const list = (await api.get<Banks>('/pse/banks')).body.data;
      expect(list.filter((bank) => !bank.available).map(({ code }) => code)).toEqual(['CO_BANCOLOMBIA']);
      const payin = await createPayin(
        api,
        psePayin({ pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' } }),
      );
      expect(payin.sourceData.pseUrl).toMatch(/^http/);
    } finally {
      await fresh.stop();
    }
  });
});
