import type { CallDefaults } from './calls.ts';
import { HookRunner, type Hooks } from './hooks.ts';
import { checkFunction, checkNames, checkRetries, checkTimeout, describe } from './option-checks.ts';
import type { Fetch } from './platform.ts';

export interface CaudalOptions {
  /** `cdl_test_…` in staging, `cdl_live_…` in production. */
  apiKey?: string | undefined;
  /** A token from `accessTokens.create`, instead of an API key. */
  accessToken?: string | undefined;
  /** URL of the server. With a `cdl_test_…` key the default is `http://127.0.0.1:8080`, the server of `npm run dev`. */
  baseUrl?: string | undefined;
  /** Retries of a call without a response, or with 429 or 503; 3 by default. */
  maxRetries?: number | undefined;
  /** Timeout of each attempt; 30 seconds by default. */
  timeoutMs?: number | undefined;
  /** Language of error texts; English by default. */
  language?: 'en' | 'es' | undefined;
  /** Custom `fetch`; the platform's by default. */
  fetch?: Fetch | undefined;
  /** Functions called before and after each attempt, for logs and metrics. */
  hooks?: Hooks | undefined;
}

/** Hosts to which a live credential may go over http: a tunnel or proxy on the same machine. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const DEV_SERVER = 'http://127.0.0.1:8080';

// Records, so that a missing name is a compile error.
const OPTIONS: Readonly<Record<keyof CaudalOptions, true>> = {
  apiKey: true,
  accessToken: true,
  baseUrl: true,
  maxRetries: true,
  timeoutMs: true,
  language: true,
  fetch: true,
  hooks: true,
};
const HOOKS: Readonly<Record<keyof Hooks, true>> = { onRequest: true, onResponse: true };

/** @throws TypeError when an option is missing, unknown or invalid */
export function resolveOptions(options: CaudalOptions): CallDefaults {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(
      "new Caudal needs an object: new Caudal({ apiKey: 'cdl_test_…', baseUrl: 'https://…' })",
    );
  checkNames('new Caudal', options, Object.keys(OPTIONS));
  checkFunction('fetch', options.fetch);
  return {
    credential: resolveCredential(options),
    baseUrl: resolveBaseUrl(options),
    language: checkLanguage(options.language),
    maxRetries: checkRetries(options.maxRetries ?? 3),
    timeoutMs: checkTimeout(options.timeoutMs ?? 30_000),
    // Called as a plain function: some platforms reject `fetch` as a method of another object.
    fetch: options.fetch ?? ((url, request) => fetch(url, request)),
    hooks: resolveHooks(options.hooks),
  };
}

/** Validates the credential here: the platform's error for an invalid header would print the secret. */
function resolveCredential({ apiKey, accessToken }: CaudalOptions): readonly [string, string] {
  const needed = 'new Caudal needs an apiKey (cdl_test_… or cdl_live_…) or an accessToken, and not both';
  if (apiKey !== undefined && accessToken !== undefined) throw new TypeError(needed);
  const [name, credential] = accessToken === undefined ? ['apiKey', apiKey] : ['accessToken', accessToken];
  if (typeof credential !== 'string' || credential === '')
    throw new TypeError(`${needed}: ${name} is ${describe(credential)}`);
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new TypeError('the credential contains a space, a line break or another invalid character');
  return apiKey === undefined ? ['authorization', `Bearer ${credential}`] : ['x-api-key', credential];
}

function resolveBaseUrl(options: CaudalOptions): string {
  const baseUrl: unknown = options.baseUrl;
  const credential = options.apiKey ?? options.accessToken ?? '';
  if (baseUrl === undefined) {
    if (!credential.startsWith('cdl_test_'))
      throw new TypeError('new Caudal needs the baseUrl of your server: only a cdl_test_… key has a default');
    return DEV_SERVER;
  }
  if (typeof baseUrl !== 'string' || baseUrl === '')
    throw new TypeError(
      `baseUrl must be a string such as https://payments.example.com, not ${describe(baseUrl)}`,
    );
  const url = parseBaseUrl(baseUrl);
  if (url.protocol === 'http:' && credential.startsWith('cdl_live_') && !LOOPBACK.test(url.hostname))
    throw new TypeError(`baseUrl must start with https:// for a live credential: ${url.origin}`);
  return url.href.replace(/\/+$/, '');
}

function parseBaseUrl(baseUrl: string): URL {
  const invalid = (reason: string) =>
    new TypeError(
      `baseUrl ${JSON.stringify(withoutPassword(baseUrl))} ${reason}, such as https://payments.example.com`,
    );
  if (!/^https?:\/\//i.test(baseUrl)) throw invalid('must start with https:// (or http://)');
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url) throw invalid('must be a valid URL');
  if (url.username !== '' || url.password !== '') throw invalid('must not contain a user name or password');
  if (/[?#]/.test(baseUrl)) throw invalid('must not contain a query or fragment');
  return url;
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//…@');
}

function checkLanguage(language: unknown): 'en' | 'es' | null {
  if (language === undefined) return null;
  if (language !== 'en' && language !== 'es')
    throw new TypeError(`language must be 'en' or 'es', not ${describe(language)}`);
  return language;
}

function resolveHooks(hooks: Hooks = {}): HookRunner {
  checkNames('hooks', hooks, Object.keys(HOOKS));
  checkFunction('hooks.onRequest', hooks.onRequest);
  checkFunction('hooks.onResponse', hooks.onResponse);
  return new HookRunner(hooks);
}
