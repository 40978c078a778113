/**
 * The program of every consumer of the SDK, in the language that all runtimes share: creates a payin that the simulator
 * pays, and verifies the webhook that the server delivers for it. A changed body must be rejected.
 */
const BODY = `
async function scenario({ baseUrl, apiKey, deliveriesUrl }) {
  const caudal = new Caudal({ apiKey, baseUrl });
  const payin = await caudal.payins.create({
    amountInCents: 4_980_000,
    currency: 'COP',
    rail: 'BRE_B',
    reference: 'matrix-' + crypto.randomUUID(),
    inlineCustomer: {
      name: 'Ana Rojas',
      idType: 'CO_CC',
      idNumber: '1000000001',
      phone: '+573001234567',
      email: 'ana@example.com',
    },
    breb: { keyType: 'SINGLE_USE' },
  });
  const response = await fetch(deliveriesUrl + '/' + payin.id);
  if (response.status !== 200) throw new Error(await response.text());
  const { body, headers, secret } = await response.json();
  const event = await webhooks.unwrap(body, headers, secret);
  if (event.event !== 'payin.confirmed' || event.data.id !== payin.id) throw new Error('another event: ' + body);
  const forged = await webhooks.unwrap(body + ' ', headers, secret).then(() => null, (error) => error);
  if (!(forged instanceof WebhookVerificationError)) throw new Error('a changed body was accepted');
  return event.event;
}
`;

const NAMES = '{ Caudal, WebhookVerificationError, webhooks }';
const INPUT =
  '{ baseUrl: process.env.CAUDAL_BASE_URL, apiKey: process.env.CAUDAL_API_KEY, deliveriesUrl: process.env.DELIVERIES_URL }';

export const ESM = `import ${NAMES} from '@caudal/sdk';\n${BODY}`;
export const CJS = `const ${NAMES} = require('@caudal/sdk');\n${BODY}`;

/** As TypeScript: the compiler checks the calls of the SDK. */
export const TYPESCRIPT = `import ${NAMES} from '@caudal/sdk';\n${BODY.replace(
  '({ baseUrl, apiKey, deliveriesUrl })',
  '({ baseUrl, apiKey, deliveriesUrl }: { baseUrl: string; apiKey: string; deliveriesUrl: string }): Promise<string>',
).replace(
  'await response.json()',
  '(await response.json()) as { body: string; headers: Record<string, string>; secret: string }',
)}`;

/** Runs the scenario of the same file and prints its result. */
export const MAIN = `scenario(${INPUT}).then(console.log, (error) => { console.error(error); process.exit(1); });\n`;
export const TYPESCRIPT_MAIN = MAIN.replaceAll(/process\.env\.(\w+)/g, "process.env['$1'] ?? ''").replace(
  '(error)',
  '(error: unknown)',
);

/** The same as a test of Jest, Vitest, node:test or Bun, which all have \`test\`. */
export const TEST = `test('creates a payin and verifies its webhook', async () => {
  const event = await scenario(${INPUT});
  if (event !== 'payin.confirmed') throw new Error(event);
}, 60_000);\n`;

export const WORKER = `export default {
  async fetch(request) {
    const result = await scenario(await request.json()).catch((error) => 'failed: ' + error.stack);
    return new Response(result);
  },
};\n`;
