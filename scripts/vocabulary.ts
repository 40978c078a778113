/**
 * Keeps retired names and phrases out of the repository (docs/glossary.md, decision 0036). `npm run check` runs this;
 * vocabulary.test.ts plants offenders.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface TextFile {
  /** Path from the repository root. */
  readonly path: string;
  readonly text: string;
}

interface Offense {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Retired identifiers, settings, metrics, tables and file names, by their replacement. Refused everywhere. */
const RETIRED_NAMES: Readonly<Record<string, readonly string[]>> = {
  'RailUpdate, applyPayinUpdates, applyPayoutUpdates': [
    'applyWords',
    'applyPayoutWords',
    'PayinWord',
    'PayoutWord',
    'WordResult',
    'ApplyWords',
  ],
  'CollectionStatus, OrderStatus': ['OrderStanding', 'standingAnswers', 'orderStandingAnswers'],
  pastProcessingWindow: ['toldLongAgo'],
  'decideFromNotification, decideFromStatus, isConfirmedBy': ['judgeMessage', 'judgeStanding', 'standsBy'],
  'Transition, TransitionReason, DetectedAnomaly, Posting': [
    'MoveCause',
    'Oddity',
    'oddities',
    'reverseBooking',
  ],
  'RailStatusPoller, PayoutStatusPoller, pollDue, FIRST_POLL_SECONDS': [
    'RailQuestions',
    'PayoutQuestions',
    'askDue',
    'FIRST_QUESTION_SECONDS',
  ],
  'ResolutionRefresher, RESOLUTION_MARGIN_MS, leaseExpiredResolutions': [
    'PromiseRenewer',
    'PROMISE_MARGIN_MS',
    'claimStale',
  ],
  'leaseToken, leased_until': ['claimToken', 'claim_token', 'claimed_until'],
  'EndpointQueue, webhook_queues, leaseQueues, backlogged, resumeQueue, pauseQueues, rescheduleStalledQueues':
    ['webhook_lines', 'claimLines', 'openLine', 'shutLines', 'wakeForgottenLines'],
  'DeliveryConcurrency, Slot, releaseSlot': ['LinePlaces', 'LinePlace', 'othersTurn'],
  DecryptedEventCache: ['OpenedEvents'],
  CommitHorizon: ['SettledIds'],
  'CollectionStarter, CommittedPayin': ['begin-collecting'],
  'expedite-payment': ['Hastening', 'hasten-payment'],
  attachPayer: ['takePayer', 'givePayer', 'give-payer'],
  'load-checkout, CheckoutState': ['visit-checkout', 'visitLink', 'visitPayin'],
  housekeeping: ['keep-house', 'keepHouse'],
  'RailPauses, rail-pause.store': ['Brakes', 'brake.store'],
  'release-leases-of-unknown-commits': ['UncertainCreations', 'release-uncertain'],
  'isolate-failures, POSTPONE_MS': ['one-by-one.ts', 'oneByOne', 'putOff', 'PUT_OFF_MS'],
  RejectionWriter: ['Refusals'],
  'ValidatedUrl, url-rules': ['JudgedAddress', 'given-address'],
  'http-probe, probe': ['http-question', 'askOnce'],
  'maxOpenBatch, excludedOrganizations': ['openAtOnce', 'leaveOut', 'PayAbilities'],
  'trigger-event, simulated-payment, stream-start': [
    'make-happen',
    'makeHappen',
    'played-payment',
    'parseGiven',
  ],
  'drivers and faulty peers of tests': [
    'OutcomeDesk',
    'PayoutDesk',
    'CheckoutDesk',
    'atTheDesk',
    'CrookedPeer',
    'crooked-peer',
  ],
  'invariants, fault injection, incidents, scenarios': [
    'BrokenPromise',
    'turmoil',
    'Turmoil',
    'mishap',
    'mishaps',
  ],
  CAUDAL_MAX_CONCURRENT_REQUESTS: ['CAUDAL_MOST_AT_ONCE'],
  CAUDAL_WORKER_POLL_MS: ['CAUDAL_DUE_EVERY_MS'],
  CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: ['CAUDAL_WEBHOOKS_TO_LOOPBACK'],
  caudal_http_requests_in_flight: ['caudal_requests_inside', 'caudal_requests_inside_limit'],
  caudal_http_requests_rejected_total: ['caudal_refused_total'],
  caudal_webhook_endpoints_backlogged: ['caudal_webhook_lines_behind'],
  caudal_ledger_inconsistent_rows: ['caudal_ledger_faults'],
};

/** Ordinary English words that must not name code: refused as identifiers in TypeScript, allowed in prose. */
const RETIRED_IDENTIFIERS: Readonly<Record<string, string>> = {
  Word: 'RailUpdate',
  told: 'notification',
  Told: 'RailNotification',
  standing: 'railStatus',
  Standing: 'CollectionStatus',
  judge: 'decide, admit, validate or classify',
  judged: 'the decided or validated value',
  Judged: 'OutcomeInput',
  judgement: 'decision',
  Judgement: 'Decision',
  oddity: 'detectedAnomaly',
  Brake: 'RailPause',
  brakes: 'railPauses',
  Fault: 'ApiError or CliError',
  Authority: 'Authenticator',
  abilities: 'capabilities',
  Abilities: 'Capabilities',
  Collecting: 'CollectionStarter',
  Begun: 'CommittedPayin',
  LinePlaces: 'DeliveryConcurrency',
  hear: 'apply',
  most: 'limit or max…',
  twin: 'baseline',
  desk: 'driver',
};

/** Words that name no actor or that a reader has to decode. Refused in comments and documents. */
const RETIRED_PROSE =
  /\b(?:whoever|somebody|nobody|everybody|for ever|so many|what came of|is at it|told|heard|hears|judged?|judgement|mended|bare twin|said once)\b|\b(?:event|customer|payload|receiver|notice)s? (?:does|do) not open\b/gi;

/** The decision records the renaming; the check and its test name what they refuse. */
const EXEMPT = /^(?:docs\/decisions\/0036-|scripts\/vocabulary(?:\.test)?\.ts$|CHANGELOG\.md$)/;
const CHECKED = /\.(?:ts|sql|md|astro|json|mjs|css)$|^\.ci\/run$/;
const GENERATED = /(?:^|\/)(?:package-lock\.json|generated\/)|openapi\.json$/;

export function findOffenses(files: readonly TextFile[]): Offense[] {
  return files.flatMap((file) => (EXEMPT.test(file.path) ? [] : fileOffenses(file)));
}

function fileOffenses({ path, text }: TextFile): Offense[] {
  const found: Offense[] = [];
  const report = (index: number, message: string) =>
    found.push({ path, line: text.slice(0, index).split('\n').length, message });
  for (const [index, name] of words(`${path}\n`, NAME))
    if (REPLACEMENTS.has(name))
      report(index - index, `the file name uses ${name}: ${REPLACEMENTS.get(name)}`);
  for (const [index, name] of words(text, NAME))
    if (REPLACEMENTS.has(name)) report(index, `${name} was renamed: ${REPLACEMENTS.get(name)}`);
  if (path.endsWith('.ts'))
    for (const [index, name] of words(codeOnly(text), IDENTIFIER))
      if (Object.hasOwn(RETIRED_IDENTIFIERS, name))
        report(index, `${name} is not a name for code here: ${RETIRED_IDENTIFIERS[name]}`);
  const prose = path.endsWith('.md') ? text : commentsOnly(text);
  for (const match of prose.matchAll(RETIRED_PROSE))
    report(match.index, `"${match[0]}": say which component does what (docs/glossary.md)`);
  return found;
}

const REPLACEMENTS: ReadonlyMap<string, string> = new Map(
  Object.entries(RETIRED_NAMES).flatMap(([better, names]) => names.map((name) => [name, better] as const)),
);

/** Names of files contain dots and dashes, identifiers do not. */
const NAME = /[A-Za-z_$][\w$]*(?:[.-][A-Za-z]\w*)*/g;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

function* words(text: string, pattern: RegExp): Generator<[index: number, word: string]> {
  for (const match of text.matchAll(pattern)) {
    yield [match.index, match[0]];
    // `brake.store` inside `brake.store.ts`, `claimToken` inside `row.claimToken`.
    if (/[.-]/.test(match[0])) {
      for (const part of match[0].matchAll(IDENTIFIER)) yield [match.index + part.index, part[0]];
      const cut = match[0].lastIndexOf('.');
      if (cut > 0) yield [match.index, match[0].slice(0, cut)];
    }
  }
}

const COMMENT_OR_STRING =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=\n)\s*--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** The text with comments and string literals blanked out; expressions inside template literals stay. */
function codeOnly(text: string): string {
  return text.replace(COMMENT_OR_STRING, (skipped) => {
    if (!skipped.startsWith('`')) return blank(skipped);
    return skipped
      .split(/(\$\{[^{}]*\})/)
      .map((part) => (part.startsWith('${') ? part : blank(part)))
      .join('');
  });
}

/** The text with everything but comments blanked out. */
function commentsOnly(text: string): string {
  let end = 0;
  let comments = '';
  for (const { 0: found, index } of text.matchAll(COMMENT_OR_STRING)) {
    comments += blank(text.slice(end, index)) + (/^(?:\/[/*]|\s*--)/.test(found) ? found : blank(found));
    end = index + found.length;
  }
  return comments + blank(text.slice(end));
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

function trackedFiles(root: string): TextFile[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((path) => CHECKED.test(path) && !GENERATED.test(path) && existsSync(`${root}/${path}`))
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));
}

if (import.meta.main) {
  const offenses = findOffenses(trackedFiles(fileURLToPath(new URL('..', import.meta.url))));
  for (const { path, line, message } of offenses) console.error(`${path}:${line}: ${message}`);
  process.exitCode = offenses.length === 0 ? 0 : 1;
}
