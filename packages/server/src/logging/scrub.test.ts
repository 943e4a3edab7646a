import { tokenKinds } from '@firsthand/contract/account/tokens';
import { describe, expect, it } from 'vitest';
import { createTokenText } from '../ingest/token.ts';
import { scrub } from './scrub.ts';

describe('scrubbed text', () => {
  it.each([
    ...tokenKinds.map((kind) => [`a ${kind} token`, `refused ${createTokenText(kind)}`, `refused ${kind}_…`]),
    ['an invitation', 'refused invitation_a_b-c', 'refused invitation_…'],
    [
      'console sessions',
      `no "__Host-firsthand=session_${'a_b-c'.repeat(4)}.${'a_b-'.repeat(8)}~session_b.${'a_b-'.repeat(8)}"`,
      'no "__Host-firsthand=session_…"',
    ],
    ['a console session', `no "__Host-firsthand=session_-${'a_b-'.repeat(8)}"`, 'no "__Host-firsthand=session_…"'],
    ['a token with dashes', 'refused "browser_-a_b-c"', 'refused "browser_…"'],
    ['an e-mail address', 'no <ada.lovelace+x@shop.example>, sorry', 'no <…@…>, sorry'],
    ['an e-mail address in another script', 'no jürgen@müller.example', 'no …@…'],
    ['an e-mail address at a single-label host', 'no ada@localhost', 'no …@…'],
    ['an e-mail address after an equals sign', 'Key (address)=(ada@shop.example)', 'Key (address)=(…@…)'],
    ['a database password', 'no postgres://me:pa=ss,w@rd@db/x here', 'no postgres://…@…/x here'],
    ['a query string', 'GET /logEvent?userUUID=abc&limit=1 failed', 'GET /logEvent?… failed'],
    ['a query string without a path', 'parameters: ?userUUID=abc', 'parameters: ?…'],
    ['a query string with a backslash, once it is JSON', JSON.stringify('/x?a=\\secret'), '"/x?…"'],
  ])('does not contain %s', (_, text, scrubbed) => {
    expect(scrub(text)).toBe(scrubbed);
    expect(scrub(scrubbed)).toBe(scrubbed);
  });

  it.each([
    ['a stack frame', 'at f (file:///srv/node_modules/@hono/node-server/dist/index.js:12:34)'],
    ['a PostgreSQL setting', 'permission denied to set parameter "session_replication_role"'],
    ['a question', 'is it there? "why?" it asked'],
  ])('still contains %s', (_, text) => {
    expect(scrub(text)).toBe(text);
  });

  it.each(['"', '\\', '\n', '/x?a="b"', 'ada@shop.example"', 'server_abc\\', '/x?\\"'])(
    'is still valid JSON: %j',
    (text) => {
      const line = JSON.stringify({ msg: text, port: 3000 });
      expect(JSON.parse(scrub(line))).toMatchObject({ port: 3000 });
    },
  );
});
