/** Tests how a userUUID is passed between two domains, and who is allowed to open a handover. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newUserUUID } from '../../../test/fixtures/requests.ts';
import { type Fields, noRateLimits, openScene, type Scene } from '../../../test/fixtures/scene.ts';

let scene: Scene;
let other: Scene;
let time = Date.now();
beforeAll(async () => {
  scene = await openScene({ now: () => time });
  other = await openScene({ now: () => time });
});
afterAll(() => Promise.all([scene.close(), other.close()]));

const from = 'shop.example';
const to = 'blog.example';
const browser = { 'User-Agent': 'A browser/1.0' };
const leaving = { ...browser, Origin: `https://${from}` };
const arriving = { ...browser, Origin: `https://${to}` };

const seal = async (userUUID: string, fields: Fields = {}): Promise<string> => {
  const input = { tokenUUID: scene.tokens.browser, userUUID, from, to: [to], ...fields };
  const { body } = await scene.post('/leave', input, leaving);
  return body.handover[0].handover;
};
const take = (handover: string, fields: Fields = {}, headers: Record<string, string> = arriving, at = scene) =>
  at.post('/arrive', { tokenUUID: at.tokens.browser, handover, from, to, ...fields }, headers);

const refusalOf = (field: string) => ({ status: 400, body: { error: { code: 'invalid_field', field } } });

describe('a handover', () => {
  it('returns the userUUID to the target page', async () => {
    const userUUID = newUserUUID();
    const response = await take(await seal(userUUID));
    expect(response).toMatchObject({ status: 200, body: { userUUID } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('does not reveal the userUUID, and differs each time', async () => {
    const userUUID = newUserUUID();
    const [one, another] = [await seal(userUUID), await seal(userUUID)];
    expect(Buffer.from(one, 'base64url').includes(userUUID)).toBe(false);
    expect(one).not.toBe(another);
    expect(scene.logged()).not.toContain(userUUID);
    expect(scene.logged()).not.toContain(one);
  });

  it('is created for any host, even with the longest userUUID and host', async () => {
    const userUUID = 'aB3-_x9Z'.repeat(8);
    const hosts = [to, `${'a'.repeat(248)}.test:65535`, '[::1]:8080'];
    const { body } = await scene.post(
      '/leave',
      { tokenUUID: scene.tokens.browser, userUUID, from, to: hosts },
      leaving,
    );
    expect(body.handover.map((each: { to: string }) => each.to)).toEqual(hosts);
    for (const [nth, host] of hosts.entries()) {
      const headers = { ...browser, Origin: `http://${host}` };
      expect(await take(body.handover[nth].handover, { to: host }, headers)).toMatchObject({ body: { userUUID } });
    }
  });

  it('is valid for two minutes', async () => {
    const handover = await seal(newUserUUID());
    time += 119_000;
    expect((await take(handover)).status).toBe(200);
    time += 2_000;
    expect(await take(handover)).toMatchObject(refusalOf('handover'));
  });

  it.each<[what: string, fields: Fields, headers: Record<string, string>, field: string]>([
    ['on another host', { to: 'elsewhere.example' }, { ...browser, Origin: 'https://elsewhere.example' }, 'handover'],
    ['by a page on another host', {}, { ...browser, Origin: 'https://elsewhere.example' }, 'to'],
    ['by a page with an opaque origin', {}, { ...browser, Origin: 'null' }, 'to'],
    ['on a subdomain', { to: `a.${to}` }, { ...browser, Origin: `https://a.${to}` }, 'handover'],
    ['on another port', { to: `${to}:8443` }, { ...browser, Origin: `https://${to}:8443` }, 'handover'],
    ['coming from another host', { from: 'elsewhere.example' }, arriving, 'handover'],
    ['by another browser', {}, { ...arriving, 'User-Agent': 'Another browser/1.0' }, 'handover'],
  ])('is not accepted %s', async (_, fields, headers, field) => {
    const handover = await seal(newUserUUID());
    expect(await take(handover, fields, headers)).toMatchObject(refusalOf(field));
  });

  it('is not accepted with another account’s token', async () => {
    expect(await take(await seal(newUserUUID()), {}, arriving, other)).toMatchObject(refusalOf('handover'));
  });

  it('is not accepted if any bit is changed or a part is missing', async () => {
    const handover = await seal(newUserUUID());
    const bytes = Buffer.from(handover, 'base64url');
    for (let nth = 0; nth < bytes.length; nth++) {
      const tampered = Buffer.from(bytes);
      tampered.writeUInt8(tampered.readUInt8(nth) ^ (1 << (nth % 8)), nth);
      expect(await take(tampered.toString('base64url'))).toMatchObject(refusalOf('handover'));
    }
    for (const wrong of [handover.slice(4), handover.slice(0, -4), `${handover}AAAA`, 'A'.repeat(100)]) {
      expect(await take(wrong)).toMatchObject(refusalOf('handover'));
    }
  });

  it.each([undefined, '', 'x'.repeat(69), 'x'.repeat(50_000), 'ä'.repeat(80), 7, ['x'.repeat(80)]])(
    'cannot be %o',
    async (handover) => {
      const response = await take(handover as string);
      expect(response).toMatchObject({ status: 400, body: { error: { field: 'handover' } } });
    },
  );
});

describe('createHandover', () => {
  it.each<[what: string, fields: Fields, headers: Record<string, string>, field: string]>([
    ['a page of another host', {}, { Origin: 'https://elsewhere.example' }, 'from'],
    ['no host', { to: [] }, leaving, 'to'],
    ['more than 20 hosts', { to: Array(21).fill(to) }, leaving, 'to'],
    ['a host with a path', { to: ['blog.example/path'] }, leaving, 'to[0]'],
    ['a host in capitals', { to: ['Blog.example'] }, leaving, 'to[0]'],
    ['a host with a line break', { to: ['blog.example\n'] }, leaving, 'to[0]'],
    ['a placeholder', { userUUID: 'undefinedundefined' }, leaving, 'userUUID'],
  ])('refuses %s', async (_, fields, headers, field) => {
    const input = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), from, to: [to], ...fields };
    expect(await scene.post('/leave', input, headers)).toMatchObject(refusalOf(field));
  });

  it('returns no handover for an account whose server tokens are all revoked', async () => {
    const lone = await openScene({ now: () => time });
    const { tokens } = lone;
    const { body } = await lone.get('/account/getAccount', {
      tokenUUID: tokens.operator,
      accountUUID: lone.accountUUID,
    });
    for (const { tokenID, tokenKind } of body.account.token)
      if (tokenKind === 'server') {
        const fields = { tokenUUID: tokens.operator, accountUUID: lone.accountUUID, tokenID };
        expect((await lone.post('/account/revokeToken', fields)).status).toBe(200);
      }
    const input = { tokenUUID: tokens.browser, userUUID: newUserUUID(), from, to: [to] };
    expect((await lone.post('/leave', input, leaving)).body).toEqual({ handover: [], status: '200' });
    await lone.close();
  });

  it('counts against the limits of the token, the address and the user', async () => {
    const user = { perSecond: 0.001, burst: 2 };
    const limited = await openScene({ rateLimits: { ...noRateLimits, user } });
    const input = { tokenUUID: limited.tokens.browser, userUUID: newUserUUID(), from, to: [to] };
    const statuses = [];
    for (let nth = 0; nth < 3; nth++) statuses.push((await limited.post('/leave', input, leaving)).status);
    expect(statuses).toEqual([200, 200, 429]);
    await limited.close();
  });
});
