/** A session of the console has the rights of the token that signed in, only for the console's own pages, and shows in no log. */
import type { Operation } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { smallestInput } from '../../fixtures/requests.ts';
import { asText, type Fields, openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from '../../front-door/console/requests.ts';
import { operationPaths, readText } from '../tools/service.ts';

/** Calls an operation, with what proves the caller in the headers. */
const call = async (
  { app }: Scene,
  { operation, path }: { readonly operation: Operation; readonly path: string },
  fields: Fields,
  headers: Record<string, string>,
) => {
  const [method] = operation.methods;
  const query = new URLSearchParams(asText(fields));
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

/** The headers of the requests of a page that somebody has signed in to. */
const signedIn = async (scene: Scene, kind: Kind) => {
  const { headers, body } = await signInWith(scene, { tokenUUID: scene.tokens[kind] });
  return fromConsole(cookieFrom(headers), body.session.sessionID);
};

const roles = { viewer: 'viewer', editor: 'editor', server: 'owner' } as const;

/** As `signedIn`, for a member, who was invited with another role than the one that counts. */
const joined = async (scene: Scene, kind: Kind) => {
  const owner = { tokenUUID: scene.tokens.server };
  const invited = {
    ...owner,
    memberEmailaddress: 'ben@shop.example',
    memberRole: kind === 'viewer' ? 'owner' : 'viewer',
  };
  const { invitationCode: code, memberID } = (await scene.post('/account/inviteMember', invited)).body;
  const { headers, body } = await scene.send('/console/accept', {
    method: 'POST',
    headers: { ...fromConsole(''), 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, memberName: 'Ben', password: 'stone teapots sing at dawn' }),
  });
  await scene.post('/account/updateMember', { ...owner, memberID, memberRole: roles[kind] });
  return fromConsole(cookieFrom(headers), body.session.sessionID);
};

test.each([
  ['a viewer token', 'viewer', signedIn],
  ['an editor token', 'editor', signedIn],
  ['a server token', 'server', signedIn],
  ['a member who is viewer', 'viewer', joined],
  ['a member who is editor', 'editor', joined],
  ['a member who is owner', 'server', joined],
] as const)('a session of %s may do what such a token may, over all operations', async (_, kind, begin) => {
  const scene = await openScene({ consoleOrigin });
  try {
    const own = await begin(scene, kind);
    for (const each of operationPaths) {
      const fields = () => smallestInput[each.name](scene, 'server');
      const byToken = await call(scene, each, await fields(), { Authorization: `Bearer ${scene.tokens[kind]}` });
      // createHandover compares an Origin with its `from`.
      const { Origin: _, ...headers } = own;
      const bySession = await call(scene, each, await fields(), headers);
      expect([each.path, bySession]).toEqual([each.path, byToken]);
    }
  } finally {
    await scene.close();
  }
});

/** What a request lacks that does not come from the console's pages. */
const foreign: readonly (readonly [string, (headers: Record<string, string>) => Record<string, string>])[] = [
  ['of another site', (headers) => ({ ...headers, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' })],
  [
    'of a neighbouring site',
    (headers) => ({ ...headers, 'Sec-Fetch-Site': 'same-site', Origin: 'https://blog.shop.example' }),
  ],
  ['of a page that somebody opens', (headers) => ({ ...headers, 'Sec-Fetch-Site': 'none' })],
  ['without the header of the console', ({ 'X-Firsthand-Console': _, ...headers }) => headers],
  [
    'of another site, by an old browser',
    ({ 'Sec-Fetch-Site': _, ...headers }) => ({ ...headers, Origin: 'https://evil.example' }),
  ],
  ['of an opaque origin, by an old browser', ({ 'Sec-Fetch-Site': _, ...headers }) => ({ ...headers, Origin: 'null' })],
];

test('no request but of the console’s pages can use a session, over all operations', async () => {
  const scene = await openScene({ consoleOrigin });
  try {
    const own = await signedIn(scene, 'server');
    for (const [what, change] of foreign) {
      for (const each of operationPaths) {
        const fields = await smallestInput[each.name](scene, 'server');
        const answer = await call(scene, each, fields, change(own));
        expect([what, each.path, answer]).toEqual([what, each.path, '401 missing_token']);
      }
      for (const path of ['/console/sign-in', '/console/sign-out']) {
        const headers = { ...change(own), 'Content-Type': 'application/json' };
        const body = JSON.stringify({ tokenUUID: scene.tokens.server });
        const { status } = await scene.send(path, { method: 'POST', headers, body });
        expect([what, path, status]).toEqual([what, path, 403]);
      }
    }
    expect((await scene.send('/console/session', { headers: own })).body.session).not.toBeNull();
  } finally {
    await scene.close();
  }
});

test('a session is no token: it is refused in a field and in a header, and stands in no log', async () => {
  const scene = await openScene({ consoleOrigin });
  try {
    const { Cookie = '' } = await signedIn(scene, 'server');
    const [, text = ''] = Cookie.split('=');
    for (const answer of [
      await scene.get('/event/getEvent', { tokenUUID: text }),
      await scene.get('/event/getEvent', {}, { Authorization: `Bearer ${text}` }),
      await signInWith(scene, { tokenUUID: text }),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([403, 'token_kind']);
    expect(scene.logged()).not.toContain(text);
    expect(scene.logged()).not.toContain(scene.tokens.server);
  } finally {
    await scene.close();
  }
});
