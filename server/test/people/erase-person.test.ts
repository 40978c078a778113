import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eraseExpired } from '../../src/flows/people/erase-expired.system.ts';
import { linkRequest, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { brebPayin, newReference } from '../harness/payin-requests.ts';
import {
  createPayout,
  newShop,
  payoutRequest,
  type Shop,
  waitForPayoutStatus,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';
import { newPerson, PersonDriver } from './person-driver.ts';

const METADATA = { order: 'order of Rosalba' };

let stack: Stack;
let caudal: InProcess;
let driver: PersonDriver;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
  driver = new PersonDriver(stack);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

const verifyLedger = () => stack.command('ledger', 'verify');

/** What the database still has about a resource of each kind. */
async function leftovers(table: 'payins' | 'payouts' | 'payment_links', id: string) {
  const [row] = await stack.database.query(
    `select customer, customer_index, metadata, erased_at is not null as erased from caudal.${table} where id = $1`,
    [id],
  );
  return row;
}
const NOTHING = { customer: null, customer_index: null, metadata: null, erased: true };

/** Declined on creation, because the organization has no money. */
async function declinedPayout(shop: Shop, changes: Record<string, unknown>): Promise<string> {
  const { id } = await createPayout(shop.api, payoutRequest(changes));
  await waitForPayoutStatus(shop.api, id, 'DECLINED');
  await driver.finalEvent(id);
  return id;
}

describe('people erase', () => {
  it('erases canceled payins with everything that belongs to them', async () => {
    const person = newPerson();
    const key = { 'idempotency-key': randomUUID() };
    const request = brebPayin({ inlineCustomer: person.customer, metadata: METADATA });
    const created = await stack.api.post<{ id: string; sourceData: { keyString: string } }>(
      '/payins',
      request,
      key,
    );
    const { id, sourceData } = created.body;
    await until(
      'the key is registered',
      async () => (await driver.payins.simulator.key(sourceData.keyString)) !== null,
    );
    await driver.payins.simulator.endKey({ key: sourceData.keyString, outcome: 'CANCELED' });
    await driver.payins.waitForStatus(id, 'CANCELED');
    await driver.passLastPoll(id);
    await driver.finalEvent(id);

    expect(await driver.list('erase', ...person.document, '--dry-run')).toEqual([`payin ${id} erasable`]);
    expect((await stack.api.get(`/payins/${id}`)).body).toMatchObject({ inlineCustomer: person.customer });
    expect(await driver.list('erase', ...person.document)).toEqual([`payin ${id} erased`]);

    expect((await stack.api.get(`/payins/${id}`)).body).toMatchObject({
      id,
      status: 'CANCELED',
      inlineCustomer: null,
      metadata: {},
    });
    expect(await leftovers('payins', id)).toEqual(NOTHING);
    const { body: events } = await stack.api.get<{ data: object[] }>(`/events?resourceId=${id}`);
    expect(JSON.stringify(events)).not.toContain('Rosalba');
    expect(JSON.stringify(events)).toContain('payin.canceled');
    const notices = await stack.database.query<{ raw: Buffer | null }>(
      'select raw from caudal.rail_notices where reference = $1',
      [sourceData.keyString],
    );
    expect(notices.length).toBeGreaterThan(0);
    expect(notices.every((notice) => notice.raw === null)).toBe(true);
    // A replayed creation and a second erasure still work.
    const replay = await stack.api.post('/payins', request, key);
    expect({ status: replay.status, body: replay.body }).toMatchObject({
      status: 201,
      body: { id, inlineCustomer: null },
    });
    expect(await driver.list('erase', ...person.document)).toEqual([]);
    expect(await verifyLedger()).toContain('sum of all accounts is zero');
  });

  it('keeps payments that moved money, with the date at which their retention ends', async () => {
    const person = newPerson();
    const id = await driver.confirmedPayin({ inlineCustomer: person.customer, metadata: METADATA });
    const { resources } = await driver.people('erase', ...person.email);
    expect(resources).toMatchObject([{ kind: 'payin', id, status: 'retained' }]);
    const { body } = await stack.api.get<{ updatedAt: string }>(`/payins/${id}`);
    const years = Number(resources[0]?.retainedUntil?.slice(0, 4)) - Number(body.updatedAt.slice(0, 4));
    expect(years).toBe(10);
    expect(body).toMatchObject({ inlineCustomer: person.customer });
  });

  it('keeps payments in progress', async () => {
    const person = newPerson();
    const { payin } = await driver.payins.breb({ inlineCustomer: person.customer });
    expect(await driver.list('erase', ...person.document)).toEqual([`payin ${payin.id} in_progress`]);
    expect((await stack.api.get(`/payins/${payin.id}`)).body).toMatchObject({
      inlineCustomer: person.customer,
    });
  });

  it('erases customer and receiver of a payout that was never sent, and keeps one that held money', async () => {
    const person = newPerson();
    const poor = await newShop(caudal, stack.api, 0);
    const rich = await newShop(caudal, stack.api);
    const to = { inlineCustomer: person.customer, metadata: METADATA };
    const declined = await declinedPayout(poor, { ...to, breb: { keyString: person.customer.email } });
    const confirmed = await createPayout(rich.api, payoutRequest(to));
    await waitForPayoutStatus(rich.api, confirmed.id, 'CONFIRMED');

    expect(await driver.list('erase', ...person.document)).toEqual(
      [`payout ${confirmed.id} retained`, `payout ${declined} erased`].toSorted(),
    );
    expect((await poor.api.get(`/payouts/${declined}`)).body).toMatchObject({
      inlineCustomer: null,
      metadata: {},
      sourceData: { keyString: 'erased' },
    });
    expect(await leftovers('payouts', declined)).toEqual(NOTHING);
    const { body: events } = await poor.api.get<object>(`/events?resourceId=${declined}`);
    expect(JSON.stringify(events)).toContain('payout.declined');
    expect(JSON.stringify(events).toLowerCase()).not.toContain('rosalba');
    expect((await rich.api.get(`/payouts/${confirmed.id}`)).body).toMatchObject({
      inlineCustomer: person.customer,
    });
    expect(await verifyLedger()).toContain('sum of all accounts is zero');
  });

  it('erases expired payment links', async () => {
    const person = newPerson();
    const request = linkRequest({
      inlineCustomer: person.customer,
      metadata: METADATA,
      description: 'Blusa para Rosalba',
    });
    const { body } = await stack.api.post<{ paymentLinkId: string }>('/payment-links', request);
    const id = body.paymentLinkId;
    expect(await driver.list('erase', ...person.email)).toEqual([`payment_link ${id} in_progress`]);
    await stack.api.post(`/payment-links/${id}/expire`, {});
    await until('the link is expired', async () => {
      const link = await stack.api.get<{ status: string }>(`/payment-links/${id}`);
      return link.body.status === 'EXPIRED';
    });
    expect(await driver.list('erase', ...person.email)).toEqual([`payment_link ${id} erased`]);
    expect((await stack.api.get(`/payment-links/${id}`)).body).toMatchObject({
      status: 'EXPIRED',
      inlineCustomer: null,
      metadata: {},
      description: null,
    });
    expect(await leftovers('payment_links', id)).toEqual(NOTHING);
  });

  it('erases the evidence of an authorization, and keeps its text and time', async () => {
    const person = newPerson();
    const id = await driver.canceledPayin({ inlineCustomer: person.customer });
    const { dataKey } = (await caudal.authenticate(stack.organization.apiKey)).secrets;
    const { organizationId } = stack.organization;
    const identity = `payer_authorizations.evidence/${organizationId}/${id}`;
    const evidence = dataKey.encrypt('{"address":"203.0.113.9","userAgent":"x"}', identity);
    await stack.database.query(
      `insert into caudal.payer_authorizations (organization_id, payin_id, text_id, at, evidence) values ($1, $2, 'text-1', caudal.now(), $3)`,
      [organizationId, id, evidence],
    );
    await driver.people('erase', ...person.document);
    const rows = await stack.database.query(
      'select text_id, evidence, at is not null as dated from caudal.payer_authorizations where payin_id = $1',
      [id],
    );
    expect(rows).toEqual([{ text_id: 'text-1', evidence: null, dated: true }]);
  });

  it('delivers a replayed event without the erased data', async () => {
    const person = newPerson();
    const sink = await WebhookSink.start();
    try {
      await stack.api.post(
        '/webhook-endpoints',
        { url: sink.url('/erased') },
        { 'idempotency-key': randomUUID() },
      );
      const id = await driver.canceledPayin({ inlineCustomer: person.customer, metadata: METADATA });
      const bodies = () =>
        sink
          .requestsTo('/erased')
          .map(({ body }) => body.toString('utf8'))
          .filter((body) => body.includes(id));
      await until('the event is delivered', () => Promise.resolve(bodies().length === 1));
      expect(bodies()[0]).toContain('Rosalba');
      await until('the delivery is recorded', async () => {
        const rows = await stack.database.query(
          `select from caudal.webhook_attempts a join caudal.events e on e.id = a.event_id where e.resource_id = $1`,
          [id],
        );
        return rows.length === 1;
      });
      await driver.people('erase', ...person.document);
      const attempts = await stack.database.query(
        `select a.answer from caudal.webhook_attempts a join caudal.events e on e.id = a.event_id where e.resource_id = $1`,
        [id],
      );
      expect(attempts).toEqual([{ answer: null }]);
      const event = await driver.finalEvent(id);
      expect((await stack.api.post(`/events/${event.id}/replay`, {})).status).toBe(202);
      await until('the event is delivered again', () => Promise.resolve(bodies().length === 2));
      expect(bodies()[1]).not.toContain('Rosalba');
    } finally {
      await sink.close();
    }
  });

  it('erases nothing of a person under a legal hold, whichever identifier the request has', async () => {
    const person = newPerson();
    const id = await driver.canceledPayin({ inlineCustomer: person.customer });
    await driver.people('hold', ...person.document, '--reason', 'court file 2026-118');
    expect(await driver.list('erase', ...person.email)).toEqual([`payin ${id} held`]);
    expect(await leftovers('payins', id)).toMatchObject({ erased: false });
    const again = await driver.run('hold', ...person.document, '--reason', 'again', '--by', 'ana');
    expect({ code: again.code, stderr: again.stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('already under a legal hold'),
    });
    const { stdout } = await driver.run('holds');
    expect(stdout).toContain('court file 2026-118');
    expect(stdout).not.toContain(person.customer.idNumber);
    await driver.people('release', ...person.document, '--reason', 'case closed');
    expect(await driver.list('erase', ...person.email)).toEqual([`payin ${id} erased`]);
  });

  it('records each command in the audit log without the identifier', async () => {
    const person = newPerson();
    await driver.canceledPayin({ inlineCustomer: person.customer });
    const { person: hash } = await driver.people('find', ...person.document);
    await driver.people('hold', ...person.document, '--reason', 'court file');
    await driver.people('release', ...person.document, '--reason', 'closed');
    await driver.people('erase', ...person.document);
    const rows = await stack.database.query<{ action: string; phase: string; text: string }>(
      'select action, phase, to_jsonb(a)::text as text from caudal.operator_actions a where resource = $1 order by at, id',
      [hash],
    );
    expect(rows.map(({ action, phase }) => `${action} ${phase}`).toSorted()).toEqual([
      'people.erase finished',
      'people.erase started',
      'people.find finished',
      'people.find started',
      'people.hold done',
      'people.release done',
    ]);
    expect(
      rows.find(({ action, phase }) => action === 'people.erase' && phase === 'finished')?.text,
    ).toContain('"erased": 1');
    for (const secret of Object.values(person.customer))
      expect(rows.map(({ text }) => text).join('\n')).not.toContain(secret);
  });
});

describe('the payer who writes own data on a checkout page', () => {
  it('is found by the document as typed on the page', async () => {
    const { body } = await stack.api.post<{ id: string; sourceData: { pseUrl: string } }>('/payins', {
      amountInCents: 4_980_000,
      currency: 'COP',
      rail: 'PSE',
      reference: newReference(),
      pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
    });
    const page = body.sourceData.pseUrl;
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(page), PAYER_DETAILS);
    const { resources } = await driver.people('find', '--document', 'CO_CC:52123456');
    expect(resources).toMatchObject([{ kind: 'payin', id: body.id, personIs: 'customer' }]);
    const [row] = await stack.database.query(
      'select length(customer_index) as length from caudal.payins where id = $1',
      [body.id],
    );
    expect(row).toEqual({ length: 16 });
  });
});

// Last: shifts the time of the whole stack by years.
describe('the schedule personal-data', () => {
  it('erases data older than the legal retention, except that of held persons', async () => {
    const [old, held, recent] = [newPerson(), newPerson(), newPerson()];
    const oldId = await driver.confirmedPayin({ inlineCustomer: old.customer });
    const heldId = await driver.confirmedPayin({ inlineCustomer: held.customer });
    await driver.people('hold', ...held.document, '--reason', 'lawsuit');
    // Its own schedule is due in the new time: it must not be faster than this test.
    await Promise.all(stack.workers.map((worker) => worker.stop()));
    await stack.database.query("select caudal.shift_time(interval '10 years 2 months')");
    const recentId = await until('a payin is created in the new time', async () => {
      const created = await stack.api.post<{ id: string }>(
        '/payins',
        brebPayin({ inlineCustomer: recent.customer }),
      );
      return created.status === 201 ? created.body.id : null;
    });
    expect(await eraseExpired(caudal.deps, new AbortController().signal)).toBeGreaterThan(0);
    expect(await leftovers('payins', oldId)).toEqual(NOTHING);
    expect(await leftovers('payins', heldId)).toMatchObject({ erased: false });
    expect(await leftovers('payins', recentId)).toMatchObject({ erased: false });
    expect(await eraseExpired(caudal.deps, new AbortController().signal)).toBe(0);
    expect(await leftovers('payins', heldId)).toMatchObject({ erased: false });
    expect(await verifyLedger()).toContain('sum of all accounts is zero');
    const actions = await stack.database.query(
      "select operator, details ->> 'erased' as erased from caudal.operator_actions where resource = 'legal_retention'",
    );
    expect(actions).toContainEqual({ operator: 'schedule personal-data', erased: expect.any(String) });
  });
});
