import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { SmtpInbox } from './smtp-inbox.ts';

let inbox: SmtpInbox;
let stack: Stack;
let driver: CheckoutDriver;

beforeAll(async () => {
  inbox = await SmtpInbox.open();
  stack = await startStack({
    apis: 1,
    workers: 1,
    settings: {
      CAUDAL_WORKER_POLL_MS: '50',
      CAUDAL_SMTP_URL: inbox.url,
      CAUDAL_MAIL_FROM: 'Caudal <recibos@caudal.example>',
    },
  });
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
  await inbox?.close();
});

/** The confirmed screen of a new payment, with the payer's browser. */
async function pay() {
  const link = await driver.link({ rail: 'BRE_B' });
  const { payer, key, payin } = await driver.breb(link);
  await driver.simulator.pay({ key });
  await driver.waitForStatus(link, 'COMPLETED');
  const page = await payer.open(link.paymentLinkUrl);
  return { payer, page, payin, receiptUrl: page.linkTo('Ver comprobante') };
}

async function readEmails(payinId: string) {
  return stack.database.query<{ stored: boolean; sent: boolean; attempts: number }>(
    `select address is not null as stored, sent_at is not null as sent, attempts from caudal.receipt_emails
     where payin_id = $1 order by id`,
    [payinId],
  );
}

describe('a receipt by e-mail', () => {
  it('is sent from the confirmed screen with the link, and the address is removed', async () => {
    const { payer, page, payin, receiptUrl } = await pay();
    const sent = await payer.submit(page, { email: 'luisa@correo.example' });
    expect(sent.url).toBe(`${receiptUrl}?sent=1`);
    expect(sent.text).toContain('Le enviaremos el comprobante a su correo');
    expect(sent.text).not.toContain('luisa@correo.example');
    const { from, to, content } = await inbox.mailTo('luisa@correo.example');
    expect([from, to]).toEqual(['recibos@caudal.example', ['luisa@correo.example']]);
    expect(content).toContain('Content-Type: multipart/alternative');
    expect(content).toContain(`Ver el comprobante: ${receiptUrl}?lang=es`);
    expect(content).toContain('Tienda Aurora recibió su pago de $ 49.800 COP.');
    expect(content).toContain('no se movió dinero real');
    await until('the address is removed', async () => {
      const [email] = await readEmails(payin.id);
      return email?.sent && !email.stored;
    });
  });

  it('is sent in English when the page is in English', async () => {
    const { receiptUrl } = await pay();
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(`${receiptUrl}?lang=en`), { email: 'john@mail.example' });
    const { content } = await inbox.mailTo('john@mail.example');
    expect(content).toContain('Tienda Aurora received your payment of $ 49.800 COP.');
  });

  it('is encrypted while it waits, and retried until the server accepts it', async () => {
    const { receiptUrl, payin } = await pay();
    inbox.rejects = { times: 1, status: 451 };
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(receiptUrl), { email: 'retry@mail.example' });
    await until('the first attempt failed', async () => inbox.rejects.times === 0);
    const [row] = await stack.database.query<{ text: string }>(
      "select encode(address, 'escape') as text from caudal.receipt_emails where payin_id = $1",
      [payin.id],
    );
    expect(row?.text).not.toContain('retry');
    await until('the attempt is recorded', async () => {
      const [waiting] = await stack.database.query<{ free: boolean }>(
        'select lease_token is null as free from caudal.receipt_emails where payin_id = $1',
        [payin.id],
      );
      return waiting?.free;
    });
    await stack.shiftTime(120_000);
    await inbox.mailTo('retry@mail.example');
  });

  it('is given up when the server rejects it permanently, and the address is removed', async () => {
    const { receiptUrl, payin } = await pay();
    inbox.rejects = { times: 1, status: 550 };
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(receiptUrl), { email: 'nobody@mail.example' });
    await until('the address is removed', async () => {
      const [email] = await readEmails(payin.id);
      return email && !email.stored;
    });
    expect(await readEmails(payin.id)).toEqual([{ stored: false, sent: false, attempts: 1 }]);
  });

  it('is limited to three per receipt and day', async () => {
    const { receiptUrl, payin } = await pay();
    const payer = new PayerBrowser();
    const page = await payer.open(receiptUrl);
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'c', 'd'])
      statuses.push((await payer.submit(page, { email: `${name}@limit.example` })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await readEmails(payin.id)).toHaveLength(3);
  });

  it('is limited to five per address and hour, over all receipts', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      const { receiptUrl } = await pay();
      const payer = new PayerBrowser();
      const page = await payer.open(receiptUrl);
      for (let each = 0; each < 3; each += 1)
        statuses.push((await payer.submit(page, { email: 'same@limit.example' })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('is refused for a wrong address, whose text stays in the form, and for another site', async () => {
    const { receiptUrl, payin } = await pay();
    const payer = new PayerBrowser();
    const page = await payer.open(receiptUrl);
    const rejected = await payer.submit(page, { email: 'luisa@' });
    expect([rejected.status, rejected.form.values['email']]).toEqual([422, 'luisa@']);
    expect(rejected.text).toContain('Escriba un correo, por ejemplo');
    await payer.submit(page, { email: 'x@mail.example' }, { 'sec-fetch-site': 'cross-site' });
    expect(await readEmails(payin.id)).toEqual([]);
  });
});

it('a deployment without an SMTP server shows no form', async () => {
  const other = await startStack({ apis: 1, workers: 1 });
  try {
    const otherDriver = new CheckoutDriver(other);
    const link = await otherDriver.link({ rail: 'BRE_B' });
    const { payer, key } = await otherDriver.breb(link);
    await otherDriver.simulator.pay({ key });
    await otherDriver.waitForStatus(link, 'COMPLETED');
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.html).not.toContain('receipt-email');
    expect(
      (await payer.post(`${page.linkTo('Ver comprobante')}/email`, { email: 'a@b.example' })).status,
    ).toBe(405);
  } finally {
    await other.stop();
  }
});
