import { describe, expect, it } from 'vitest';
import { findMigrationViolations } from './migration-rules.ts';

const EXISTING = new Set(['payins', 'payouts']);
const find = (body: string, header = '-- schema: expand') =>
  findMigrationViolations('0017_x.sql', `${header}\n${body}`, EXISTING);

describe('a migration', () => {
  it.each([
    'create index payins_x on caudal.payins (x);',
    'create unique index payins_x on caudal.payins (x);',
    'alter table caudal.payins add constraint x check (x > 0);',
    'alter table caudal.payins\n  add foreign key (x) references caudal.payouts;',
    'alter table caudal.payins add column x uuid default gen_random_uuid();',
    'alter table caudal.payins add column x int check (x > 0);',
    'alter table caudal.payins alter column x type bigint;',
    'alter table caudal.payins alter column x set not null;',
    'update caudal.payins set x = 1;',
    'delete from caudal.payins;',
    'alter table caudal.payins drop column x;',
    'alter table caudal.payins rename to x;',
    'drop table caudal.payins;',
    'lock table caudal.payins;',
    '-- step: index\nselect 1;\n-- step\ncreate index payins_x on caudal.payins (x);',
  ])('is rejected with %s', (body) => {
    expect(find(body)).toHaveLength(1);
  });

  it.each([
    'alter table caudal.payins add column x text;',
    "alter table caudal.payins add column x text not null default 'a';",
    'alter table caudal.payins add constraint x check (x > 0) not valid;',
    '-- step\nalter table caudal.payins validate constraint x;',
    '-- step: index\ncreate index payins_x on caudal.payins (x);',
    '-- step: repeat\nupdate caudal.payins set x = 1 where id in (select id from caudal.payins where x is null limit 100);',
    '-- blocking: one row\nupdate caudal.payins set x = 1;',
    'create table caudal.colors (id uuid primary key);\ncreate index colors_x on caudal.colors (id);',
    'create function caudal.f() returns void language sql as $$ delete from caudal.payins $$;',
  ])('is accepted with %s', (body) => {
    expect(find(body)).toEqual([]);
  });

  it('may remove what no release uses with the header "contract"', () => {
    expect(find('alter table caudal.payins drop column x;', '-- schema: contract from 0016')).toEqual([]);
  });

  it('is rejected without a header, and before 0017 accepted without one', () => {
    expect(findMigrationViolations('0017_x.sql', 'select 1;', EXISTING)).toHaveLength(1);
    expect(findMigrationViolations('0016_x.sql', 'drop table caudal.payins;', EXISTING)).toEqual([]);
  });
});
