import { expect, it } from 'vitest';
import { createLog } from './log.ts';

const linesOf = (write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] => {
  const lines: string[] = [];
  write(createLog('debug', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
};

it('writes one JSON object per line, with an ISO time and a level name', () => {
  expect(linesOf((log) => log.info({ port: 3000 }, 'listening'))).toEqual([
    { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), port: 3000, msg: 'listening' },
  ]);
});

it.each([
  ['a token', 'refused server_0123456789abcdefghijklmn "today"', 'server_0123456789abcdefghijklmn'],
  ['an e-mail address', 'no contact <ann@shop.example> "here"\n', 'ann@shop.example'],
  ['an address of another script', 'contact jürgen+x@müller.example', 'jürgen'],
  ['a query string', 'GET /event/getEvent?userUUID=abc&limit=1 failed', 'userUUID=abc'],
  ['a query string in quotes', 'GET "/event/getEvent?userUUID=abc\\"', 'userUUID=abc'],
])('never writes %s, anywhere in a line', (_, text, secret) => {
  const [message, field, fault] = linesOf((log) => {
    log.warn(text);
    log.warn({ what: { deep: [text] } }, 'field');
    log.error({ err: new Error(text, { cause: new Error(text) }) }, 'fault');
  });
  expect(JSON.stringify([message, field, fault])).not.toContain(secret);
  expect(JSON.stringify(message)).toContain('…');
});

it('never writes fields that contain secrets', () => {
  const [line] = linesOf((log) =>
    log.warn({ tokenUUID: 'x1', request: { headers: { cookie: 'x2' }, body: 'x3' } }, 'x'),
  );
  expect(JSON.stringify(line)).not.toMatch(/x[123]/);
});

it('writes only the name, code and stack of an error, in any field', () => {
  const fault = Object.assign(new Error('duplicate key'), { row: ['x1'] });
  const lines = linesOf((log) => {
    log.error({ err: fault }, 'it failed');
    log.error({ fault }, 'it failed');
    log.error({ fault: { name: 'Error', stack: 'as it was described' } }, 'it failed');
  });
  expect(JSON.stringify(lines)).not.toContain('x1');
  for (const { err, fault } of lines) expect(err ?? fault).toMatchObject({ name: 'Error' });
  expect(lines[2]).toMatchObject({ fault: { stack: 'as it was described' } });
});
