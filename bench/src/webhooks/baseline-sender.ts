/**
 * Baseline of webhook delivery: undici posts prepared messages to the ports of a sink over keep-alive connections, with
 * limited concurrency per port. It decrypts, signs and records nothing. Prints its timing as one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Work {
  readonly messages: readonly Message[];
  readonly ports: readonly number[];
  readonly concurrency: number;
  /** Number of requests before the measurement. */
  readonly warmUp: number;
}

const { messages, ports, concurrency, warmUp } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as Work;

async function postAll(port: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
  const queue = messages.values();
  const worker = async () => {
    for (const { headers, body } of queue) {
      const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
}

async function round(): Promise<{ seconds: number; cpuSeconds: number }> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(ports.map(postAll));
  const spent = process.cpuUsage(cpu);
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (spent.user + spent.system) / 1e6 };
}

// Warm up like the worker.
for (let posted = 0; posted < warmUp; posted += messages.length * ports.length) await round();
console.log(JSON.stringify(await round()));
