/** Describes why a peer is unreachable, for the operator. */
export function describeNetworkFailure(error: unknown): string {
  const code = findCode(error);
  const known = DESCRIPTIONS[code];
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : String(error);
  if (isTimeout(error, message)) return 'no response in time';
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) return `its TLS certificate was rejected (${code})`;
  return code === '' ? message : `${message} (${code})`;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: no process is listening',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'DNS lookup of the host name failed; try again',
  ECONNRESET: 'connection closed by the peer',
  EPIPE: 'connection closed by the peer',
  UND_ERR_SOCKET: 'connection closed by the peer',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to its network',
  ETIMEDOUT: 'no response in time',
  UND_ERR_CONNECT_TIMEOUT: 'no response in time',
};

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether no connection was established, so that the peer cannot have received the request. */
export function isNotConnected(error: unknown): boolean {
  return NOT_CONNECTED.has(findCode(error));
}

function isTimeout(error: unknown, message: string): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'TimeoutError' || /\btime(?:d out|out)\b/i.test(message);
}

/** Finds the code of the error or of its cause. */
function findCode(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined || cause === error ? '' : findCode(cause);
}
