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

/** System calls that fail before a connection is established. */
const BEFORE_CONNECTION: ReadonlySet<unknown> = new Set(['getaddrinfo', 'connect']);

/**
 * Whether no connection was established, so that the peer cannot have received the request. The system call decides, not the
 * code: an established connection can also fail with EHOSTUNREACH, after the request was written.
 */
export function isNotConnected(error: unknown): boolean {
  const { code, syscall, errors, cause } = (error ?? {}) as Record<string, unknown>;
  // One error per address of the host name.
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(isNotConnected);
  if (BEFORE_CONNECTION.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return cause !== undefined && cause !== error && isNotConnected(cause);
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
