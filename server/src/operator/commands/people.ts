import type { CatalogEntry } from './description.ts';
import { BY, REASON } from './shared-options.ts';

const DOCUMENT = {
  name: 'document',
  value: 'TYPE:NUMBER',
  summary: 'the document of the person: CO_CC, CO_CE, CO_NIT, MXN_RFC or PASSPORT, a colon, and the number',
} as const;
const EMAIL = { name: 'email', value: 'ADDRESS', summary: 'the e-mail address of the person' } as const;
const ORG = { name: 'org', value: 'ID', summary: 'only in this organization (default: all)' } as const;

const AUDIT_NOTE =
  'The audit rows contain a keyed hash of the identifier, not the identifier. The command line may remain in the history of your shell.';

export const PEOPLE_COMMANDS = [
  {
    name: 'people find',
    audit: 'before_and_after',
    summary: 'list the payments of a person, and which of their data could be erased',
    usage: 'people find (--document TYPE:NUMBER | --email ADDRESS) [--org ID] --by NAME',
    options: [DOCUMENT, EMAIL, ORG, BY],
    details: `Finds payins, payouts and payment links with the person as customer, and payouts with the person as receiver. ${AUDIT_NOTE}`,
    examples: ['caudal people find --document CO_CC:1020304050 --by ana'],
  },
  {
    name: 'people export',
    audit: 'before_and_after',
    summary: 'write the data of a person to a file',
    usage: 'people export (--document TYPE:NUMBER | --email ADDRESS) [--org ID] --output FILE --by NAME',
    options: [
      DOCUMENT,
      EMAIL,
      ORG,
      {
        name: 'output',
        value: 'FILE',
        summary: 'a new file, readable only by its owner',
        required: true,
      },
      BY,
    ],
    details: `Writes one JSON document: the payments with amounts, times and states, the customer data, the payer's authorizations with their evidence, receivers' keys, receipt e-mails and rail notices. Amounts are in cents. ${AUDIT_NOTE}`,
    examples: ['caudal people export --email ana@example.com --output ana.json --by ana'],
  },
  {
    name: 'people erase',
    audit: 'before_and_after',
    summary: 'erase the data of a person where the law does not require to keep it',
    usage: 'people erase (--document TYPE:NUMBER | --email ADDRESS) [--org ID] [--dry-run] --by NAME',
    options: [
      DOCUMENT,
      EMAIL,
      ORG,
      { name: 'dry-run', value: null, summary: 'only list what would be erased' },
      BY,
    ],
    details: `Keeps, and lists, the data of persons under a legal hold, of payments in progress, and of payments that moved money within CAUDAL_LEGAL_RETENTION_YEARS. Amounts, times, states and the ledger stay. Erased data cannot be restored. Safe to repeat: it completes an interrupted run. ${AUDIT_NOTE}`,
    examples: [
      'caudal people erase --document CO_CC:1020304050 --dry-run --by ana',
      'caudal people erase --document CO_CC:1020304050 --by ana',
    ],
  },
  {
    name: 'people hold',
    audit: 'with_change',
    summary: 'place a legal hold: no data of the person is erased',
    usage: 'people hold (--document TYPE:NUMBER | --email ADDRESS) --reason TEXT --by NAME',
    options: [DOCUMENT, EMAIL, REASON, BY],
    details:
      'For a lawsuit or an order of an authority. It applies to every payment that contains the document or e-mail address, in all organizations, and also to later ones. Write no personal data into the reason.',
    examples: ["caudal people hold --document CO_CC:1020304050 --reason 'court file 2026-118' --by ana"],
  },
  {
    name: 'people release',
    audit: 'with_change',
    summary: 'release a legal hold',
    usage: 'people release (--document TYPE:NUMBER | --email ADDRESS) --reason TEXT --by NAME',
    options: [DOCUMENT, EMAIL, REASON, BY],
    examples: ["caudal people release --document CO_CC:1020304050 --reason 'case closed' --by ana"],
  },
  {
    name: 'people holds',
    audit: 'none',
    summary: 'list legal holds with their reason, author and time',
    usage: 'people holds',
    details: 'Shows the keyed hash of each person, as in the audit log, and a masked identifier.',
    examples: ['caudal people holds'],
  },
  {
    name: 'retention list',
    audit: 'none',
    summary: 'list how long each table is kept, why, its personal data, and detached months',
    usage: 'retention list',
    examples: ['caudal retention list'],
  },
] as const satisfies readonly CatalogEntry[];
