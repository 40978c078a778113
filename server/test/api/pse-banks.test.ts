import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { BankList } from '../../src/flows/payins/read-banks.ts';
import { refreshBanks } from '../../src/flows/payins/refresh-banks.ts';
import type { Principal } from '../../src/organizations/organization.ts';
import { BANKS } from '../../src/rails/pse/banks.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { type FaultyPeer, json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { createPayin, problemOf } from '../harness/payin-answers.ts';
import { psePayin, without } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

interface Banks {
  readonly data: readonly { readonly code: string; readonly name: string; readonly available: boolean }[];
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function banks(): Promise<Banks['data']> {
  const answer = await stack.api.get<Banks>('/pse/banks');
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
    const theirs = await stack.api.as(apiKey).get<Banks>('/pse/banks');
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

describe('what PSE offers', () => {
  const offered = (...codes: readonly string[]) =>
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
  /** As a process sees it that has read nothing yet. */
  const available = async () => {
    const isOffered = await new BankList(caudal.deps).offered(principal);
    return BANKS.filter(({ networkCode }) => isOffered(networkCode)).map(({ code }) => code);
  };
  const kept = () =>
    database.query('select network_code, name, seen_at from caudal.pse_banks order by network_code');

  it('is every bank until PSE has been asked', async () => {
    expect(await available()).toHaveLength(BANKS.length);
  });

  it('is what its newest list has; a bank that left keeps its row, and is back when it is listed again', async () => {
    await refresh(offered('0', '1507', '1551', '1007'));
    expect(await available()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA', 'CO_BANCOLOMBIA']);
    await refresh(offered('1507', '1051'));
    expect(await available()).toEqual(['CO_NEQUI', 'CO_DAVIVIENDA']);
    expect(await kept()).toMatchObject([
      { network_code: '1007' },
      { network_code: '1051' },
      { network_code: '1507' },
      { network_code: '1551' },
    ]);
    await refresh(offered('1507', '1551'));
    expect(await available()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it.each<[string, PeerReply]>([
    ['an empty list', json({ banks: [] })],
    ['nothing but the line that invites to choose', json({ banks: [{ code: '0', name: 'Elija su banco' }] })],
    ['something that is no list', json({ banks: 'all of them' })],
    ['a bank without its code', json({ banks: [{ code: '1507', name: 'NEQUI' }, { name: 'BANCOLOMBIA' }] })],
    ['something that is not JSON', { text: '<html>mantenimiento</html>' }],
    ['half of a list', { text: '{"banks":[{"code":"1507","na' }],
    ['an error', json({ code: 'FAIL_ACCESSDENIED' }, 401)],
    ['an outage', json({}, 503)],
  ])('does not change by %s', async (_what, answer) => {
    await refresh(offered('1507', '1551'));
    const before = await kept();
    await expect(refresh(answer)).rejects.toThrow('PSE gave no bank list');
    expect(await kept()).toEqual(before);
    expect(await available()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('does not change by an older list that comes late', async () => {
    await refresh(offered('1507', '1551'));
    await database.query("update caudal.pse_banks set seen_at = seen_at + interval '1 minute'");
    await refresh(offered('1507', '1551', '1007'));
    expect(await available()).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
  });

  it('is read once for half a minute, and shown as it was when the database does not answer', async () => {
    await refresh(offered('1507'));
    let reads = 0;
    let away = false;
    let passedMs = 0;
    const list = new BankList(
      {
        ...caudal.deps,
        read: {
          read: (id, work) => {
            reads += 1;
            return away ? Promise.reject(new Error('away')) : caudal.deps.read.read(id, work);
          },
        },
      },
      () => passedMs,
    );
    const shown = async () => {
      const isOffered = await list.offered(principal);
      return BANKS.filter(({ networkCode }) => isOffered(networkCode)).map(({ code }) => code);
    };
    expect(await Promise.all([shown(), shown()])).toEqual([['CO_NEQUI'], ['CO_NEQUI']]);
    await refresh(offered('1551'));
    passedMs = 29_000;
    expect(await shown()).toEqual(['CO_NEQUI']);
    expect(reads).toBe(1);
    away = true;
    passedMs = 31_000;
    expect(await shown()).toEqual(['CO_NEQUI']);
    away = false;
    expect(await shown()).toEqual(['CO_DAVIPLATA']);
  });
});

describe('a bank that PSE does not offer today', () => {
  it('is shown as not available, and a payin for it is taken all the same: PSE decides', async () => {
    await stack.command('schedules', 'run', 'bank-list');
    await stack.database.query(
      "update caudal.pse_banks set seen_at = seen_at - interval '1 day' where network_code = '1007'",
    );
    // The list is the process's own for half a minute: one that has not read it yet.
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
