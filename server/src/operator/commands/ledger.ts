import type { CatalogEntry } from './description.ts';
import { BY, REASON } from './shared-options.ts';

export const LEDGER_COMMANDS = [
  {
    name: 'ledger deposit',
    audit: 'with_change',
    summary: 'credit a deposit to an organization, once per reference',
    usage: 'ledger deposit --org ID --amount PESOS --reference TEXT --by NAME',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
      { name: 'amount', value: 'PESOS', summary: 'amount, such as 10000000 or 10000000.50', required: true },
      {
        name: 'reference',
        value: 'TEXT',
        summary: 'unique reference, such as the bank transfer number',
        required: true,
      },
      BY,
    ],
    details:
      'Credits the available balance, from which payouts are paid. Idempotent: a repeated reference posts nothing.',
    examples: [
      "caudal ledger deposit --org 01990000-0000-7000-8000-000000000000 --amount 10000000 --reference 'transfer 4711' --by ana",
    ],
  },
  {
    name: 'ledger reverse',
    audit: 'with_change',
    summary: 'reverse a deposit or the resolution of an anomaly',
    usage: [
      'ledger reverse --org ID --deposit REFERENCE [--amount PESOS] --reason TEXT --by NAME',
      'ledger reverse --org ID --transfer ID [--amount PESOS] --reason TEXT --by NAME',
    ].join('\n'),
    options: [
      { name: 'org', value: 'ID', summary: 'the id of the organization of the transfer', required: true },
      { name: 'deposit', value: 'REFERENCE', summary: 'the --reference of a deposit' },
      {
        name: 'transfer',
        value: 'ID',
        summary: "the id of the transfer (see audit list, or the merchant's ledger entries)",
      },
      { name: 'amount', value: 'PESOS', summary: 'part of a deposit (default: the whole transfer)' },
      REASON,
      BY,
    ],
    details:
      'Posts a transfer between the same accounts in the other direction. Deposits can be reversed in part; credits, charges and write-offs of anomalies only in full, which reopens the anomaly. Each transfer can be reversed once. Money that entered or left through a rail cannot be reversed here. A reversal that the available balance does not cover is rejected.',
    examples: [
      "caudal ledger reverse --org 01990000-0000-7000-8000-000000000000 --deposit 'transfer 4711' --reason 'typo in the amount' --by ana",
    ],
  },
  {
    name: 'ledger verify',
    audit: 'none',
    summary: 'recompute all balances and list inconsistent rows',
    usage: 'ledger verify',
    details:
      'Reads one snapshot while the server keeps running, and keeps the result for metrics and "doctor". Exit code 1 when a row is inconsistent.',
    examples: ['caudal ledger verify'],
  },
  {
    name: 'anomalies list',
    audit: 'none',
    summary: 'list open anomalies: rail reports that match no payin or payout, oldest first',
    usage: 'anomalies list [--all]',
    options: [{ name: 'all', value: null, summary: 'include resolved anomalies' }],
    details:
      'The money of an anomaly stays in suspense until an operator decides with "anomalies resolve". An anomaly of kind payment_not_listed holds the settlement of its payin.',
    examples: ['caudal anomalies list'],
  },
  {
    name: 'anomalies resolve',
    audit: 'with_change',
    summary: 'resolve an anomaly and move its money',
    usage: [
      'anomalies resolve ID --credit [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --return --key BREB_KEY [--name HOLDER | --yes] --by NAME [--note TEXT]',
      'anomalies resolve ID --charge [--org ID] --by NAME [--note TEXT]',
      'anomalies resolve ID --write-off --by NAME [--note TEXT]',
      'anomalies resolve ID --dismiss --by NAME [--note TEXT]',
      'anomalies resolve ID --release --by NAME [--note TEXT]',
      'anomalies resolve ID --reverse --by NAME [--note TEXT]',
    ].join('\n'),
    options: [
      { name: 'credit', value: null, summary: 'incoming money: credit it to the merchant' },
      { name: 'return', value: null, summary: 'incoming money: return it with a payout from suspense' },
      { name: 'charge', value: null, summary: 'outgoing money: charge it to the merchant' },
      { name: 'write-off', value: null, summary: 'outgoing money: write it off as our loss' },
      { name: 'dismiss', value: null, summary: 'no money involved: close the anomaly' },
      {
        name: 'release',
        value: null,
        summary: 'payment not listed: the payment exists, so let the payin settle',
      },
      { name: 'reverse', value: null, summary: 'payment not listed: reverse the payment' },
      {
        name: 'org',
        value: 'ID',
        summary: 'the organization that owns the money, if it has no payin or payout',
      },
      { name: 'key', value: 'BREB_KEY', summary: 'with --return: the Bre-B key that receives the money' },
      { name: 'name', value: 'HOLDER', summary: 'with --return: the expected holder of the key' },
      { name: 'yes', value: null, summary: 'with --return: confirm the holder that was shown' },
      BY,
      { name: 'note', value: 'TEXT', summary: 'note for the audit log' },
    ],
    args: [{ name: 'ID', summary: 'the id of an anomaly (see anomalies list)' }],
    details:
      'With --return the holder of the key is looked up and compared with --name before money moves. If the return payout is declined, the anomaly is reopened.',
    examples: [
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --credit --by ana --note 'paid twice, merchant keeps it'",
      "caudal anomalies resolve 01990000-0000-7000-8000-000000000000 --return --key @TESTOK --name 'Janeth Smith' --by ana",
    ],
  },
] as const satisfies readonly CatalogEntry[];
