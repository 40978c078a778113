/** Why a peer could not be reached, in words for whoever has to mend it. */
export function networkFailure(error: unknown): string {
  const code = codeOf(error);
  const known = WORDS[code];
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : String(error);
  if (isTimeout(error, message)) return 'no answer in time';
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) return `its certificate is not accepted (${code})`;
  return code === '' ? message : `${message} (${code})`;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: nothing listens there',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to its network',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
};

function isTimeout(error: unknown, message: string): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'TimeoutError' || /\btime(?:d out|out)\b/i.test(message);
}

/** Of the error itself, or of what caused it. */
function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined || cause === error ? '' : codeOf(cause);
}
