import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { sumOfParts } from './invariants/link-attempts.ts';
import type { KnownLink } from './known-link.ts';
import { type KnownPayin, resourceReference } from './known-payin.ts';
import { linkRequest } from './merchant.ts';
import type { Rail } from './rail.ts';
import { pay } from './rail-steps.ts';
import type { LinkRow } from './snapshot.ts';
import { contend } from './stack-steps.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

export async function createLink(history: History, step: StepOf<'create_link'>): Promise<void> {
  const { cents, hasCustomer, api } = step;
  const request = linkRequest(step, history.world.freshName());
  const answer = await history.merchant(api).createLink(request);
  const { status, body } = answer;
  if (status !== 201 || body['status'] !== 'PENDING')
    throw new InvariantViolation({ invariant: 'one_link_per_request', about: { request, answer } });
  history.links.push({
    id: String(body['paymentLinkId']),
    cents,
    hasCustomer,
    path: new URL(String(body['paymentLinkUrl'])).pathname,
    cookie: null,
    closing: 'no',
  });
}

export async function startAttempt(
  history: History,
  { nth, rail, api }: StepOf<'start_attempt'>,
): Promise<void> {
  const link = history.link(nth);
  if (link) await start(history, link, [{ rail, api }]);
}

export async function startConcurrently(
  history: History,
  { nth, rails }: StepOf<'concurrent_attempts'>,
): Promise<void> {
  const link = history.link(nth);
  if (link)
    await start(
      history,
      link,
      rails.map((rail, api) => ({ rail, api })),
    );
}

async function start(
  history: History,
  link: KnownLink,
  requests: readonly { readonly rail: Rail; readonly api: number }[],
): Promise<void> {
  const before = await readState(history, link);
  const started = await Promise.all(requests.map(({ rail, api }) => history.payer(api).start(link, rail)));
  const attempts = await rememberAttempts(history, link);
  const after = await readState(history, link);
  const about = { link, requests, started, attempts, before, after };
  const ids = started.flatMap(({ payinId }) => (payinId === null ? [] : [payinId]));
  const known = ids.every((id) => attempts.some((attempt) => attempt.id === id));
  const unrepeated = started.every(({ repeated }) => !repeated);
  if (!known || (unrepeated && ids.length !== attempts.length))
    throw new InvariantViolation({ invariant: 'one_payin_per_request', about });
  if (attempts.some(({ cents }) => cents !== before.rest && cents !== after.rest))
    throw new InvariantViolation({ invariant: 'attempt_requests_rest', about });
  // PSE may be unable to carry the rest, or be down; Bre-B is always offered.
  const onBreb = (each: { readonly rail: Rail }) => each.rail === 'BRE_B';
  const refused = requests.some(onBreb) && !attempts.some(onBreb) && !history.paused;
  if ((attempts.length > 0 && !isOpen(before)) || (refused && isFree(before) && isFree(after)))
    throw new InvariantViolation({ invariant: 'open_link_accepts_attempts', about });
}

interface LinkState {
  readonly row: LinkRow | null;
  /** What its attempts have not received yet. */
  readonly rest: number;
}

async function readState(history: History, link: KnownLink): Promise<LinkState> {
  const { links, payins } = await history.readLink(link.id);
  return { row: links[0] ?? null, rest: link.cents - Number(sumOfParts(payins)) };
}

function isOpen({ row }: LinkState): boolean {
  return row?.status === 'PENDING' && !row.shut;
}

function isFree(state: LinkState): boolean {
  return isOpen(state) && state.row?.open_breb === null;
}

/** Lists the attempts as the merchant. @returns those that the history did not know yet */
async function rememberAttempts(history: History, link: KnownLink): Promise<KnownPayin[]> {
  const answer = await history.merchant(0).get(`/payins?paymentLinkId=${link.id}&pageSize=100`);
  const listed = answer.body['data'] as readonly Readonly<Record<string, unknown>>[];
  const known = new Set(history.payins.map(({ id }) => id));
  const attempts = listed
    .filter(({ id }) => !known.has(String(id)))
    .toReversed()
    .map((body) => toKnownPayin(history, link, body));
  history.payins.push(...attempts);
  return attempts;
}

function toKnownPayin(
  { organizationNumber }: History,
  link: KnownLink,
  body: Readonly<Record<string, unknown>>,
): KnownPayin {
  const id = String(body['id']);
  const { keyString } = body['sourceData'] as { readonly keyString?: string };
  return {
    id,
    rail: body['rail'] as Rail,
    cents: Number(body['amountInCents']),
    request: null,
    linkId: link.id,
    railReference: keyString ?? resourceReference(id, organizationNumber),
    expiresAtMs: Date.parse(String(body['expiresAt'])),
  };
}

export async function changeMethod(history: History, { nth, api }: StepOf<'change_method'>): Promise<void> {
  const link = history.link(nth);
  if (link) await history.payer(api).changeMethod(link);
}

export async function payAttempt(history: History, step: StepOf<'pay_attempt'>): Promise<void> {
  const index = findAttempts(history, step.nth).at(-1 - step.back);
  if (index !== undefined) await pay(history, { ...step, nth: index });
}

export async function payTwoAttempts(history: History, { nth }: StepOf<'pay_two_attempts'>): Promise<void> {
  const [first, second] = findAttempts(history, nth).slice(-2);
  if (first !== undefined && second !== undefined) await contend(history, { nth: first, other: second });
}

/** Indexes of the attempts of a link in the payins of the history, oldest first. */
function findAttempts(history: History, nth: number): number[] {
  const link = history.link(nth);
  return history.payins.flatMap(({ linkId }, index) => (link && linkId === link.id ? [index] : []));
}

/** A link that is not completed can be closed, any number of times. */
export async function closeLink(history: History, { nth, both }: StepOf<'close_link'>): Promise<void> {
  const link = history.link(nth);
  if (!link) return;
  if (link.closing === 'no') link.closing = 'requested';
  const before = await readState(history, link);
  const merchants = both ? history.merchants : [history.merchant(0)];
  const answers = await Promise.all(merchants.map((merchant) => merchant.expireLink(link.id)));
  const after = await readState(history, link);
  for (const { status, body } of answers) {
    const completed = [before, after].map(({ row }) => row?.status === 'COMPLETED');
    const valid = status === 200 ? completed[0] === false : status === 409 && completed[1] === true;
    if (!valid)
      throw new InvariantViolation({
        invariant: 'responses_match_rows',
        about: { link, status, body, before, after },
      });
    if (status === 200) link.closing = 'acknowledged';
  }
}

/** The responses of both APIs match the row, unless it changes meanwhile. */
export async function readLink(history: History, { nth }: StepOf<'read_link'>): Promise<void> {
  const link = history.link(nth);
  if (!link) return;
  const before = await readState(history, link);
  const answers = await Promise.all(
    history.merchants.map((merchant) => merchant.get(`/payment-links/${link.id}`)),
  );
  const after = await readState(history, link);
  const rows = [before, after].map(({ row }) => row && [row.status, row.paid, row.payin].join());
  for (const { status, body } of answers) {
    const response = [body['status'], body['paidAmountInCents'], body['payinId']].join();
    const changed = rows[0] !== rows[1];
    if (status !== 200 || body['amountInCents'] !== link.cents || !(changed || rows.includes(response)))
      throw new InvariantViolation({
        invariant: 'responses_match_rows',
        about: { body, before, after },
      });
  }
}
