import { decryptValue } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import {
  findAuthorization,
  listReceiptEmails,
  type NoticeOfResource,
  type StoredAuthorization,
  type StoredReceiptEmail,
} from '../../people/erasure.store.ts';
import type { PersonIdentifier } from '../../people/person.ts';
import { decryptNotice } from '../../rail-notices/notice.encryption.ts';
import { type AssessedResource, assessResources } from './erase-person.system.ts';
import { type EraseDeps, findNotices } from './erase-resource.system.ts';
import { findPerson } from './find-person.system.ts';
import { type PersonResource, railReference, toRowId } from './person-resources.system.ts';

/** The data of a person as one JSON document. */
export interface PersonExport {
  readonly format: 'caudal-person-export/1';
  readonly identifier: PersonIdentifier;
  readonly exportedAt: string;
  readonly legalRetentionYears: number;
  readonly resources: readonly object[];
}

/** Reads everything that is stored about a person. @param organizationId null: all organizations */
export async function exportPerson(
  deps: EraseDeps & Pick<SystemDeps, 'clock'>,
  identifier: PersonIdentifier,
  organizationId: string | null,
): Promise<PersonExport> {
  const assessed = await assessResources(deps, await findPerson(deps, identifier, organizationId));
  const notices = await findNotices(
    deps,
    assessed.map(({ resource }) => resource),
  );
  const readNotice = await noticeReader(deps);
  const resources: object[] = [];
  for (const each of assessed) {
    const reference = railReference(each.resource);
    const raw = reference === null ? [] : (notices.get(reference) ?? []).map(readNotice);
    resources.push(await describe(deps, each, raw));
  }
  return {
    format: 'caudal-person-export/1',
    identifier,
    exportedAt: new Date(deps.clock.time()).toISOString(),
    legalRetentionYears: deps.legalRetentionYears,
    resources,
  };
}

async function noticeReader(deps: EraseDeps): Promise<(notice: NoticeOfResource) => unknown> {
  const keys = new DataKeys(deps.system, deps.masterKeys);
  const { dataKey } = (await keys.load(new Set([OPERATOR_ORGANIZATION_ID])))(OPERATOR_ORGANIZATION_ID);
  return ({ id, raw }) =>
    raw && (JSON.parse(decryptNotice(dataKey, raw, OPERATOR_ORGANIZATION_ID, id)) as unknown);
}

async function describe(
  { system }: EraseDeps,
  { resource, as, status, retainedUntil }: AssessedResource,
  railNotices: readonly unknown[],
): Promise<object> {
  const { organization, kind } = resource;
  const rowId = toRowId(resource);
  const authorization = kind === 'payin' ? await findAuthorization(system, rowId) : null;
  const emails = kind === 'payin' ? await listReceiptEmails(system, rowId) : [];
  return {
    kind,
    personIs: as,
    organization: {
      id: organization.id,
      name: organization.name,
      supportContact: organization.supportContact,
    },
    erasure: { status, retainedUntil: retainedUntil?.toISOString() ?? null },
    data: toJson(resource.value),
    ...(kind === 'payin'
      ? {
          authorization: authorization && readAuthorization(resource, authorization),
          receiptEmails: emails.map((email) => readEmail(resource, email)),
        }
      : {}),
    railNotices,
  };
}

/** Amounts are in cents. */
function toJson(value: object): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)),
  );
}

function readAuthorization(resource: PersonResource, { textId, at, evidence }: StoredAuthorization): object {
  const rowId = toRowId(resource);
  return {
    textId,
    at: at.toISOString(),
    evidence: decryptValue('payer_authorizations', 'evidence', rowId, evidence, resource.secrets.dataKey),
  };
}

function readEmail(
  { organization, secrets }: PersonResource,
  { id, address, language, createdAt, sentAt }: StoredReceiptEmail,
): object {
  const rowId = { organizationId: organization.id, id };
  return {
    address: decryptValue('receipt_emails', 'address', rowId, address, secrets.dataKey),
    language,
    createdAt: createdAt.toISOString(),
    sentAt: sentAt?.toISOString() ?? null,
  };
}
