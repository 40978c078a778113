import { findMarkedWords } from '../tenants/tenant.ts';

/** Secrets in the logs: credentials, webhook secrets and checkout tokens. An API key's id is public. */
const SECRET = /cdl_(?:test|live)_(?:at_)?\w{16}_\w{20,}|whsec_[\w+/=-]{10,}|\/(?:l|p|r)\/[\w-]{30,}/;
const SHOWN = 20;
/** The fuzzer signs notices that no rail would send; the operator has to see them. */
const EXPECTED_ERROR = /"code":"rail_notice_unreadable"/;

/** Reads every log line of the servers: no errors, no personal data, no secrets. */
export class LogCheck {
  readonly #findings: string[] = [];
  #lines = 0;
  #found = 0;

  readonly read = (line: string): void => {
    this.#lines += 1;
    const wrong = this.#checkResponse(line);
    if (wrong === null) return;
    this.#found += 1;
    if (this.#findings.length < SHOWN) this.#findings.push(`${wrong}: ${line.slice(0, 600)}`);
  };

  #checkResponse(line: string): string | null {
    if (/"level":"(?:error|fatal)"/.test(line) && !EXPECTED_ERROR.test(line)) return 'error in the log';
    if (!line.startsWith('{') && line.trim() !== '') return 'output that is not a log line';
    if (SECRET.test(line)) return 'secret in the log';
    const [marked] = [...findMarkedWords('a', line), ...findMarkedWords('b', line)];
    return marked === undefined ? null : `data of an organization in the log (${marked})`;
  }

  get lines(): number {
    return this.#lines;
  }

  get found(): number {
    return this.#found;
  }

  get findings(): readonly string[] {
    return this.#findings;
  }
}
