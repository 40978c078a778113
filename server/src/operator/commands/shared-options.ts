export const BY = {
  name: 'by',
  value: 'NAME',
  summary: 'author for the audit log (default: CAUDAL_BY)',
  required: true,
} as const;

export const REASON = {
  name: 'reason',
  value: 'TEXT',
  summary: 'reason for the audit log',
  required: true,
} as const;

export const ORGANIZATION = { name: 'ID', summary: 'the id of an organization (see org list)' } as const;
