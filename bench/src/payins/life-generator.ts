/**
 * A process that simulates merchants and payers: it creates payins, pays each key as soon as the network knows it, and
 * creates another payin for each received webhook, so that the number of open payins stays constant. Prints the result as
 * one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from '../load/http-connection.ts';
import { requestMaker } from '../load/load-plan.ts';
import type { LifePlan, LifeResult } from './life-plan.ts';

const PAYMENTS_PER_CALL = 1000;
const BETWEEN_CALLS_MS = 20;
const WITHIN_MS = 60_000;

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LifePlan;
const request = requestMaker(plan.request);
const payable: string[] = [];
let started = 0;
let created = 0;
let finished = 0;
let creating = plan.connections;
const controller = new AbortController();

async function create(port: number): Promise<void> {
  const connection = await HttpConnection.open(port);
  while (!controller.signal.aborted) {
    if (started - finished >= plan.alive) {
      await sleep(5);
      continue;
    }
    const { status, body } = await connection.send(request(started++));
    const key = /"keyString":"([^"]+)"/.exec(body)?.[1];
    if (status !== 201 || key === undefined)
      throw new Error(`a creation failed with status ${status}: ${body}`);
    payable.push(key);
    created += 1;
  }
  connection.close();
  creating -= 1;
}

/** Retries keys that the network does not know yet in a later call. */
async function payAll(): Promise<void> {
  while (isCreating() || payable.length > 0) {
    await sleep(BETWEEN_CALLS_MS);
    const keys = payable.splice(0, PAYMENTS_PER_CALL);
    if (keys.length === 0) continue;
    const answer = await post<{ results: { key: string; code?: string }[] }>(
      `${plan.simulatorUrl}/control/keys/pay`,
      { payments: keys.map((key) => ({ key })) },
    );
    payable.push(...answer.results.filter(({ code }) => code !== undefined).map(({ key }) => key));
  }
}

async function watch(): Promise<void> {
  const until = () => performance.now() + WITHIN_MS;
  for (let deadline = until(); isCreating() || finished < created; ) {
    await sleep(BETWEEN_CALLS_MS);
    const { distinct } = await post<{ distinct: number }>(`${plan.sinkControl}/count`, null);
    if (distinct > finished) deadline = until();
    finished = distinct;
    if (performance.now() > deadline) throw new Error(`${created - finished} payins without a webhook`);
  }
}

function isCreating(): boolean {
  return creating > 0;
}

async function post<T>(url: string, body: unknown): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function measure(): Promise<LifeResult> {
  await sleep(plan.warmUpSeconds * 1000);
  const from = { at: performance.now(), finished, cpu: process.cpuUsage() };
  const overTime: number[] = [];
  for (let second = 1, before = finished; second <= plan.seconds; second += 1) {
    await sleep(from.at + second * 1000 - performance.now());
    overTime.push(finished - before);
    before = finished;
  }
  const seconds = (performance.now() - from.at) / 1000;
  const spent = process.cpuUsage(from.cpu);
  const lives = finished - from.finished;
  controller.abort();
  return {
    lives,
    seconds,
    perSecond: lives / seconds,
    overTime,
    generatorCpuSeconds: (spent.user + spent.system) / 1e6,
  };
}

const work = Promise.all([
  ...Array.from({ length: plan.connections }, (_, index) =>
    create(plan.ports[index % plan.ports.length] ?? 0),
  ),
  payAll(),
  watch(),
]);
const [result] = await Promise.all([measure(), work]);
console.log(JSON.stringify({ ...result, created }));
