/**
 * The bare twin of delivering: undici posts to the ports of a sink what it is given, with connections kept, so many at once
 * to each. Nothing is opened, signed or written down. Prints what it took as a line of JSON.
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
  readonly atOnce: number;
  /** Posted before it counts. */
  readonly warmUp: number;
}

const { messages, ports, atOnce, warmUp } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Work;

async function postAll(port: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: atOnce });
  const queue = messages.values();
  const worker = async () => {
    for (const { headers, body } of queue) {
      const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  await pool.close();
}

async function round(): Promise<{ seconds: number; cpuSeconds: number }> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(ports.map(postAll));
  const spent = process.cpuUsage(cpu);
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (spent.user + spent.system) / 1e6 };
}

// Warm, as our side is by now.
for (let posted = 0; posted < warmUp; posted += messages.length * ports.length) await round();
console.log(JSON.stringify(await round()));
