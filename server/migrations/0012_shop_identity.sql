-- What a payer can check about a shop: its legal name and NIT, whether the operator verified them, and its logo.

alter table caudal.organizations
  add column legal_name  text constraint organization_legal_name check (length(legal_name) between 1 and 160),
  add column tax_id      text constraint organization_tax_id check (tax_id ~ '^[0-9]{6,11}-[0-9]$'),
  -- When the operator checked legal name and NIT against documents. Changing one of them or the name removes it.
  add column verified_at timestamptz,
  add constraint organization_verified check (verified_at is null or num_nonnulls(legal_name, tax_id) = 2);

-- PNG files that this service encoded itself: uploaded bytes are never stored.
create table caudal.organization_logos (
  organization_id uuid primary key references caudal.organizations,
  -- Hash of the files. It is part of their URLs, so that browsers cache them without asking again.
  id              text not null constraint logo_id check (id ~ '^[A-Za-z0-9_-]{22}$'),
  preview         bytea not null constraint logo_preview check (length(preview) <= 100000),
  header          bytea not null constraint logo_header check (length(header) <= 16000),
  icon            bytea not null constraint logo_icon check (length(icon) <= 4000),
  created_at      timestamptz not null default caudal.now()
);
-- Not unique: two shops of one brand have the same logo.
create index organization_logos_id on caudal.organization_logos (id);
comment on column caudal.organization_logos.preview is 'At most 256x256 pixels, for link previews in chats.';
comment on column caudal.organization_logos.header is 'At most 96x96 pixels, for the header of checkout pages.';
comment on column caudal.organization_logos.icon is 'At most 32x32 pixels, for browser tabs.';

call caudal.protect('caudal.organization_logos');
grant select, insert, update, delete on caudal.organization_logos to caudal_system;
