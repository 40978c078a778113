import { setMaxListeners } from 'node:events';
import { isIPv6 } from 'node:net';
import { buildApp } from './app.ts';
import { type Config, ConfigError, readConfig, USAGE } from './config.ts';
import { Journal } from './journal.ts';
import { NoticeSender } from './notices/notice-sender.ts';
import { runDue } from './run-due.ts';
import { emptyState, replayEntry } from './state.ts';

/** Calls still running after this are aborted, so that the shutdown ends. */
const CLOSE_DEADLINE_MS = 2000;

/** Maximum delay of scheduled actions. */
const TICK_MS = 50;

const log = (message: string): void => console.error(`simulator: ${message}`);

async function run(config: Config): Promise<void> {
  const state = emptyState(config);
  const journal = await Journal.open(
    config.dataDir,
    (line) => replayEntry(state, line),
    (error) => {
      log(`failed to write the journal, stopping: ${String(error)}`);
      process.exit(1);
    },
  );
  const closing = new AbortController();
  let listeningUrl = '';
  const publicUrl = (): string => config.publicUrl ?? listeningUrl;
  // Copied before the first call can queue a notice that is not on disk yet.
  const unacknowledged = [...state.notices.waiting.values()];
  // Every post and every slow call adds a listener.
  setMaxListeners(0, closing.signal);
  const parts = { config, state, journal, closing: closing.signal, log };
  const sender = new NoticeSender(parts);
  const deps = { ...parts, sender };
  const app = buildApp(deps, publicUrl);
  await app.listen({ host: config.host, port: config.port });
  const address = app.server.address();
  listeningUrl = toListeningUrl(
    config.host,
    typeof address === 'object' && address !== null ? address.port : config.port,
  );

  sender.offer(unacknowledged);
  const ticking = setInterval(() => {
    runDue(deps);
    sender.pump();
  }, TICK_MS);

  const stop = async (): Promise<void> => {
    closing.abort();
    clearInterval(ticking);
    const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_DEADLINE_MS);
    await app.close();
    clearTimeout(deadline);
    await journal.close();
    process.exit(0);
  };
  const stopOnce = (): void => {
    if (!closing.signal.aborted) stop().catch(die);
  };
  process.on('SIGTERM', stopOnce);
  process.on('SIGINT', stopOnce);
  // Started by a parent with an IPC channel: stop when the parent exits.
  process.on('disconnect', stopOnce);
  console.log(JSON.stringify({ ready: true, url: listeningUrl }));
}

/** A URL clients can open: the wildcard address is replaced by loopback. */
function toListeningUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

function die(error: unknown): never {
  if (error instanceof ConfigError) {
    log(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
  log(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

try {
  await run(readConfig(process.argv.slice(2), process.env));
} catch (error) {
  die(error);
}
