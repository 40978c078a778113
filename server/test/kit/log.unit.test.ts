import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { errorFields, makeLog } from '../../src/kit/log.ts';

function captureLog(level = 'debug') {
  const lines: string[] = [];
  const log = makeLog({
    level,
    base: { role: 'api' },
    stream: { write: (line: string) => void lines.push(line) },
  });
  const last = () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>;
  return { log, lines, last };
}

/** A PostgreSQL error that quotes the row. */
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
  it('writes one JSON object per line with time, level, role and message', () => {
    const { log, lines, last } = captureLog();
    log.info({ code: 'request_completed', requestId: 'req_1', status: 201 }, 'request');
    log.warn({ code: 'test' }, 'first line\nsecond line');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^\{[^\n]*\}\n$/);
    expect(last()).toMatchObject({ level: 'warn', role: 'api', msg: 'first line\nsecond line' });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      role: 'api',
      code: 'request_completed',
      requestId: 'req_1',
      status: 201,
      msg: 'request',
    });
  });

  it('drops every field that is not allowed, at every level', () => {
    const { log, lines } = captureLog();
    const careless = {
      code: 'test',
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
        'code',
        'level',
        'msg',
        'role',
        'status',
        'time',
      ]);
      expect(line).not.toMatch(/Rojas|ana@|SECRET|3001234567/);
    }
  });

  it('drops inherited and hidden fields', () => {
    const { log, lines } = captureLog();
    class Payer {
      readonly code = 'test';
      readonly status = 1;
      readonly phone = '+573001234567';
      toJSON() {
        return { phone: this.phone, status: 2 };
      }
    }
    log.info(new Payer(), 'a payer');
    expect(lines[0]).not.toContain('573001234567');
  });

  it('writes nothing below its level and nothing when silent', () => {
    const quiet = captureLog('warn');
    quiet.log.debug({ code: 'test' }, 'no');
    quiet.log.info({ code: 'test' }, 'no');
    quiet.log.warn({ code: 'test' }, 'yes');
    expect(quiet.lines).toHaveLength(1);
    const silent = captureLog('silent');
    silent.log.error({ code: 'test' }, 'no');
    expect(silent.lines).toEqual([]);
  });
});

describe('errorFields', () => {
  it('omits the PostgreSQL message, because it quotes data', () => {
    const fields = errorFields(databaseError());
    expect(fields).toMatchObject({
      errorType: 'error',
      sqlState: '23505',
      constraint: 'reference_once',
      table: 'resource_references',
    });
    expect(fields).not.toHaveProperty('errorMessage');
    expect(JSON.stringify(fields)).not.toContain('ana@example.com');
    const { log, lines } = captureLog();
    log.error({ code: 'test', ...fields }, 'a request failed');
    expect(lines.join('')).not.toContain('ana@example.com');
  });

  it('reports the statement, constraint and table of the database error that caused an error', () => {
    const cause = Object.assign(databaseError(), { statement: 'payin.insert' });
    const fields = errorFields(new Error('creation failed', { cause }));
    expect(fields).toMatchObject({
      errorType: 'Error',
      errorMessage: 'creation failed',
      sqlState: '23505',
      constraint: 'reference_once',
      table: 'resource_references',
      statement: 'payin.insert',
    });
    expect(JSON.stringify(fields)).not.toContain('ana@example.com');
  });

  it('keeps the message and frames of our own errors', () => {
    const fields = errorFields(new TypeError('there is no pepper'));
    expect(fields).toMatchObject({ errorType: 'TypeError', errorMessage: 'there is no pepper' });
    expect(fields.frames).toEqual(expect.arrayContaining([expect.stringContaining('log.unit.test.ts')]));
    expect((fields.frames as string[]).length).toBeLessThanOrEqual(6);
  });

  it('returns only the type of a value that is not an error', () => {
    expect(errorFields('ana@example.com')).toEqual({ errorType: 'string' });
    expect(errorFields({ email: 'ana@example.com' })).toEqual({ errorType: 'object' });
    expect(errorFields(null)).toEqual({ errorType: 'object' });
  });
});
