/**
 * Tests that a console session has the rights of its token or member, works only for the console's own pages, and
 * appears in no log.
 */
import type { Operation } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { smallestInput } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene, toStrings } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from '../../front-door/console/requests.ts';
import { operationPaths, readText } from '../tools/service.ts';

/** Calls an operation with credentials in the headers. Returns the status and the error code. */
const call = async (
  { app }: Scene,
  { operation, path }: { readonly operation: Operation; readonly path: string },
  fields: Fields,
  headers: Record<string, string>,
) => {
  const [method] = operation.methods;
  const query = new URLSearchParams(toStrings(fields));
  const response =
    method === 'GET'
      ? await app.request(`${path}?${query}`, { headers })
      : await app.request(path, {
          method,
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify(fields),
        });
  const text = await readText(response);
  const code = response.status === 200 ? '' : JSON.parse(text).error.code;
  return `${response.status} ${code}`.trim();
};

type Kind = 'viewer' | 'editor' | 'server';

/** Signs in with a token. Returns the headers of the page's requests. */
const signIn = async (scene: Scene, kind: Kind) => {
  const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens[kind] });
  return fromConsole(cookieFrom(headers), body.session.sessionID);
};

const roles = { viewer: 'viewer', editor: 'editor', server: 'owner' } as const;

/** Like `signIn`, for a member whose role was changed after the invitation. */
const joinAs = async (scene: Scene, kind: Kind) => {
  const owner = { tokenUUID: scene.tokens.server };
  const invitation = {
    ...owner,
    memberEmailaddress: 'ben@shop.example',
    memberRole: kind === 'viewer' ? 'owner' : 'viewer',
  };
  const { invitationCode: code, memberID } = (await scene.post('/account/inviteMember', invitation)).body;
  const { headers, body } = await scene.send('/console/accept', {
    method: 'POST',
    headers: { ...fromConsole(''), 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, memberName: 'Ben', password: 'stone teapots sing at dawn' }),
  });
  await scene.post('/account/updateMember', { ...owner, memberID, memberRole: roles[kind] });
  return fromConsole(cookieFrom(headers), body.session.sessionID);
};

test.each([
  ['a viewer token', 'viewer', signIn],
  ['an editor token', 'editor', signIn],
  ['a server token', 'server', signIn],
  ['a member with the viewer role', 'viewer', joinAs],
  ['a member with the editor role', 'editor', joinAs],
  ['a member with the owner role', 'server', joinAs],
] as const)('gives a session of %s exactly the rights of such a token, for all operations', async (_, kind, begin) => {
  const scene = await openScene({ consoleOrigin });
  try {
    const headersOfPage = await begin(scene, kind);
    for (const each of operationPaths) {
      const fields = () => smallestInput[each.name](scene, 'server');
      const byToken = await call(scene, each, await fields(), { Authorization: `Bearer ${scene.tokens[kind]}` });
      // Omits the Origin, which createHandover compares with its `from`.
      const { Origin: _, ...headers } = headersOfPage;
      const bySession = await call(scene, each, await fields(), headers);
      expect([each.path, bySession]).toEqual([each.path, byToken]);
    }
  } finally {
    await scene.close();
  }
});

/** Header changes that make a request no longer look like one from the console's pages. */
const foreign: readonly (readonly [string, (headers: Record<string, string>) => Record<string, string>])[] = [
  ['from another site', (headers) => ({ ...headers, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' })],
  [
    'from a sibling site',
    (headers) => ({ ...headers, 'Sec-Fetch-Site': 'same-site', Origin: 'https://blog.shop.example' }),
  ],
  ['from a page that the user opened directly', (headers) => ({ ...headers, 'Sec-Fetch-Site': 'none' })],
  ['without the console’s header', ({ 'X-Firsthand-Console': _, ...headers }) => headers],
  [
    'from another site, in an old browser',
    ({ 'Sec-Fetch-Site': _, ...headers }) => ({ ...headers, Origin: 'https://evil.example' }),
  ],
  [
    'from an opaque origin, in an old browser',
    ({ 'Sec-Fetch-Site': _, ...headers }) => ({ ...headers, Origin: 'null' }),
  ],
];

test('accepts a session only in requests from the console’s pages, for all operations', async () => {
  const scene = await openScene({ consoleOrigin });
  try {
    const headersOfPage = await signIn(scene, 'server');
    for (const [what, change] of foreign) {
      for (const each of operationPaths) {
        const fields = await smallestInput[each.name](scene, 'server');
        const response = await call(scene, each, fields, change(headersOfPage));
        expect([what, each.path, response]).toEqual([what, each.path, '401 missing_token']);
      }
      for (const path of ['/console/sign-in', '/console/sign-out']) {
        const headers = { ...change(headersOfPage), 'Content-Type': 'application/json' };
        const body = JSON.stringify({ tokenUUID: scene.tokens.server });
        const { status } = await scene.send(path, { method: 'POST', headers, body });
        expect([what, path, status]).toEqual([what, path, 403]);
      }
    }
    expect((await scene.send('/console/session', { headers: headersOfPage })).body.session).not.toBeNull();
  } finally {
    await scene.close();
  }
});

test('refuses a session that is sent as a token, and never logs it', async () => {
  const scene = await openScene({ consoleOrigin });
  try {
    const { Cookie = '' } = await signIn(scene, 'server');
    const [, text = ''] = Cookie.split('=');
    for (const response of [
      await scene.get('/event/getEvent', { tokenUUID: text }),
      await scene.get('/event/getEvent', {}, { Authorization: `Bearer ${text}` }),
      await signInWith(scene, { tokenUUID: text }),
    ])
      expect([response.status, response.body.error.code]).toEqual([403, 'token_kind']);
    expect(scene.logged()).not.toContain(text);
    expect(scene.logged()).not.toContain(scene.tokens.server);
  } finally {
    await scene.close();
  }
});
