import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { errorFields, makeLog } from '../../src/kit/log.ts';

function listen(level = 'debug') {
  const lines: string[] = [];
  const log = makeLog({
    level,
    base: { role: 'api' },
    stream: { write: (line: string) => void lines.push(line) },
  });
  const last = () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>;
  return { log, lines, last };
}

/** What the database says when a row breaks a rule: it quotes the row. */
function databaseError(): DatabaseError {
  const error = new DatabaseError('duplicate key: (ana@example.com) already exists', 100, 'error');
  error.severity = 'ERROR';
  error.code = '23505';
  error.detail = 'Key (email)=(ana@example.com) already exists.';
  error.where = 'COPY payins, line 1: "ana@example.com"';
  error.constraint = 'reference_once';
  error.table = 'resource_references';
  return error;
}

describe('the log', () => {
  it('writes one JSON object a line, with its time, level, role and message', () => {
    const { log, lines, last } = listen();
    log.info({ requestId: 'req_1', status: 201 }, 'request');
    log.warn({}, 'first line\nsecond line');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^\{[^\n]*\}\n$/);
    expect(last()).toMatchObject({ level: 'warn', role: 'api', msg: 'first line\nsecond line' });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      role: 'api',
      requestId: 'req_1',
      status: 201,
      msg: 'request',
    });
  });

  it('drops every field that is not on the list, at every level', () => {
    const { log, lines } = listen();
    const careless = {
      status: 500,
      inlineCustomer: { name: 'Ana María Rojas', email: 'ana@example.com' },
      email: 'ana@example.com',
      headers: { 'x-api-key': 'cdl_test_SECRET' },
      body: 'Rojas',
      err: new Error('Rojas'),
      error: new Error('Rojas'),
      request: { url: '/breb/keys/3001234567' },
    };
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](careless, 'careless');
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      expect(Object.keys(JSON.parse(line) as object).sort()).toEqual([
        'level',
        'msg',
        'role',
        'status',
        'time',
      ]);
      expect(line).not.toMatch(/Rojas|ana@|SECRET|3001234567/);
    }
  });

  it('drops what an object inherits or hides, too', () => {
    const { log, lines } = listen();
    class Payer {
      readonly status = 1;
      readonly phone = '+573001234567';
      toJSON() {
        return { phone: this.phone, status: 2 };
      }
    }
    log.info(new Payer(), 'a payer');
    expect(lines[0]).not.toContain('573001234567');
  });

  it('says nothing below its level and nothing at all when silent', () => {
    const quiet = listen('warn');
    quiet.log.debug({}, 'no');
    quiet.log.info({}, 'no');
    quiet.log.warn({}, 'yes');
    expect(quiet.lines).toHaveLength(1);
    const silent = listen('silent');
    silent.log.error({}, 'no');
    expect(silent.lines).toEqual([]);
  });
});

describe('what the log says of an error', () => {
  it('leaves out what PostgreSQL says, for it quotes the data it refused', () => {
    const fields = errorFields(databaseError());
    expect(fields).toMatchObject({
      errorType: 'error',
      sqlState: '23505',
      constraint: 'reference_once',
      table: 'resource_references',
    });
    expect(fields).not.toHaveProperty('errorMessage');
    expect(JSON.stringify(fields)).not.toContain('ana@example.com');
    const { log, lines } = listen();
    log.error(fields, 'a request failed');
    expect(lines.join('')).not.toContain('ana@example.com');
  });

  it('keeps the message and the frames of an error of our own', () => {
    const fields = errorFields(new TypeError('there is no pepper'));
    expect(fields).toMatchObject({ errorType: 'TypeError', errorMessage: 'there is no pepper' });
    expect(fields.frames).toEqual(expect.arrayContaining([expect.stringContaining('log.test.ts')]));
    expect((fields.frames as string[]).length).toBeLessThanOrEqual(6);
  });

  it('says only the type of what is not an error at all', () => {
    expect(errorFields('ana@example.com')).toEqual({ errorType: 'string' });
    expect(errorFields({ email: 'ana@example.com' })).toEqual({ errorType: 'object' });
    expect(errorFields(null)).toEqual({ errorType: 'object' });
  });
});
