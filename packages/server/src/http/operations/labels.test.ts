import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newUserUUID } from '../../../test/fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../../test/fixtures/scene.ts';

const address = '203.0.113.77';
const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const windows = { 'User-Agent': userAgent };
const phone = { ...windows, 'Sec-CH-UA-Mobile': '?1', 'Sec-CH-UA-Platform': '"Android"' };
const onWindows = { $browser: 'Chrome', $os: 'Windows', $device: 'desktop' };
const onPhone = { $browser: 'Chrome', $os: 'Android', $device: 'phone' };

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

type Headers = Record<string, string>;
const send = (
  path: string,
  fields: Fields,
  headers: Headers = windows,
  kind: 'browser' | 'server' = 'browser',
  at = scene,
) => at.post(path, { tokenUUID: at.tokens[kind], ...fields }, headers);

/** Returns the attributes of a user's events, oldest first. */
const attributesOf = async (userUUID: string, at = scene): Promise<Record<string, string>[]> => {
  const { body } = await at.get('/event/getEvent', { tokenUUID: at.tokens.server, userUUID, order: 'asc' });
  return body.event.map(({ eventAttrArray }: { eventAttrArray: { attrID: string; attrValue: string }[] }) =>
    Object.fromEntries(eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue])),
  );
};

describe('events sent with a browser token', () => {
  it('get labels when sent alone, in a batch, by a beacon or by an image', async () => {
    const userUUID = newUserUUID();
    await send('/event/logEvent', { userUUID, eventID: 1, eventAttrArray: [{ attrID: 'price', attrValue: 9 }] });
    await send('/update', { userUUID, event: [{ eventID: 1 }, { eventID: 2 }] }, phone);
    const body = JSON.stringify({ tokenUUID: scene.tokens.browser, userUUID, event: [{ eventID: 1 }] });
    await scene.send('/update', { method: 'POST', body, headers: { ...windows, 'Content-Type': 'text/plain' } });
    const image = { ...phone, Accept: 'image/*' };
    const { headers } = await scene.get('/picture', { tokenUUID: scene.tokens.browser, userUUID, eventID: 1 }, image);
    expect(headers.get('content-type')).toBe('image/gif');
    expect(await attributesOf(userUUID)).toEqual([{ price: '9', ...onWindows }, onPhone, onPhone, onWindows, onPhone]);
  });

  it('can be found by label, and are exported with labels', async () => {
    const userUUID = newUserUUID();
    const { body } = await send(
      '/createContact',
      { userUUID, contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' },
      windows,
      'server',
    );
    await send('/event/logEvent', { userUUID, eventID: 1 });
    await send('/event/logEvent', { userUUID, eventID: 1 }, phone);
    const { tokens } = scene;
    const matches = await scene.get('/event/getEvent', {
      tokenUUID: tokens.server,
      userUUID,
      attrID: '$os',
      attrValue: 'Android',
    });
    expect(matches.body.event).toHaveLength(1);
    const exported = await scene.post('/contact/exportContact', {
      tokenUUID: tokens.server,
      contactUUID: body.contactUUID,
    });
    expect(JSON.stringify(exported.body.event)).toContain('{"attrID":"$device","attrValue":"phone"}');
  });

  it('keep the labels of the first request that sent them', async () => {
    const userUUID = newUserUUID();
    const event = { userUUID, eventID: 1, eventUUID: 'brought-twice' };
    await send('/event/logEvent', event);
    expect((await send('/event/logEvent', event, phone)).body.duplicate).toBe(true);
    expect(await attributesOf(userUUID)).toEqual([onWindows]);
  });

  it('get no labels without a User-Agent, and only the kind of bot if a bot sent them', async () => {
    const userUUID = newUserUUID();
    await send('/event/logEvent', { userUUID, eventID: 1 }, {});
    await send(
      '/event/logEvent',
      { userUUID, eventID: 1 },
      { 'User-Agent': `${userAgent} (compatible; Googlebot/2.1)` },
    );
    expect(await attributesOf(userUUID)).toEqual([{}, { robot: 'true', $agent: 'crawler' }]);
  });

  it('get `$agent` if the tracker has detected an automated browser', async () => {
    const userUUID = newUserUUID();
    await send('/event/logEvent', { userUUID, eventID: 1, eventAttrArray: [{ attrID: 'robot', attrValue: true }] });
    expect(await attributesOf(userUUID)).toEqual([{ robot: 'true', ...onWindows, $agent: 'automated browser' }]);
  });

  it('can have labels in addition to the maximum number of attributes', async () => {
    const userUUID = newUserUUID();
    const eventAttrArray = Array.from({ length: limits.attributesPerEvent }, (_, nth) => ({
      attrID: `a${nth}`,
      attrValue: 1,
    }));
    expect((await send('/event/logEvent', { userUUID, eventID: 1, eventAttrArray })).status).toBe(200);
    const [attributes = {}] = await attributesOf(userUUID);
    expect(Object.keys(attributes)).toHaveLength(limits.attributesPerEvent + 3);
  });
});

describe('events sent with a server token', () => {
  it('get no labels, because the headers are the server’s own', async () => {
    const userUUID = newUserUUID();
    await send('/event/logEvent', { userUUID, eventID: 1 }, windows, 'server');
    await send('/event/logEvents', { userUUID, event: [{ eventID: 1 }] }, phone, 'server');
    expect(await attributesOf(userUUID)).toEqual([{}, {}]);
  });
});

describe('an attribute with a label’s name', () => {
  const forged = [
    { attrID: '$browser', attrValue: 'forged' },
    { attrID: '$mine', attrValue: 'kept' },
    { attrID: '$country', attrValue: 'XX' },
  ];

  it.each(['browser', 'server'] as const)(
    'is ignored and reported, and the event is stored, with a %s token',
    async (kind) => {
      const userUUID = newUserUUID();
      const labels = kind === 'browser' ? onWindows : {};
      const alone = await send(
        '/event/logEvent',
        { userUUID, eventID: 1, eventAttrArray: forged, typo: 1 },
        windows,
        kind,
      );
      expect(alone.body.ignored).toEqual(['typo', 'eventAttrArray[0]', 'eventAttrArray[2]']);
      const event = [
        { eventID: 1 },
        { eventID: 1, eventAttrArray: forged },
        5,
        { eventID: 1, eventAttrArray: '[none' },
      ];
      const batch = await send('/event/logEvents', { userUUID, event }, windows, kind);
      expect(batch.body.ignored).toEqual(['event[1].eventAttrArray[0]', 'event[1].eventAttrArray[2]']);
      expect(batch.body.event.map(({ status }: { status: string }) => status)).toEqual(['200', '200', '400', '400']);
      const expected = { $mine: 'kept', ...labels };
      expect(await attributesOf(userUUID)).toEqual([expected, labels, expected]);
    },
  );

  it('is ignored in a query string and in a form', async () => {
    const userUUID = newUserUUID();
    const fields = { tokenUUID: scene.tokens.browser, userUUID, eventID: 1, eventAttrArray: forged };
    const ignored = ['eventAttrArray[0]', 'eventAttrArray[2]'];
    expect((await scene.get('/event/logEvent', fields)).body.ignored).toEqual(ignored);
    const body = new URLSearchParams({ ...fields, eventID: '1', eventAttrArray: JSON.stringify(forged) });
    expect((await scene.send('/event/logEvent', { method: 'POST', body })).body.ignored).toEqual(ignored);
    expect(await attributesOf(userUUID)).toEqual([{ $mine: 'kept' }, { $mine: 'kept' }]);
  });

  it('is ignored in a strict account without labels, even in an import', async () => {
    const strict = await openScene({ account: { enrich: false, strict: true, event: [{ eventID: 1 }] } });
    const userUUID = newUserUUID();
    const eventAttrArray = forged.filter(({ attrID }) => attrID !== '$mine');
    const fields = { userUUID, eventID: 1, eventAttrArray, import: true, eventTime: 0 };
    expect((await send('/event/logEvent', fields, windows, 'server', strict)).status).toBe(200);
    expect(await attributesOf(userUUID, strict)).toEqual([{}]);
    await strict.close();
  });

  it('is reported up to 20 times', async () => {
    const event = Array(30).fill({ eventID: 1, eventAttrArray: forged });
    expect((await send('/event/logEvents', { userUUID: newUserUUID(), event })).body.ignored).toHaveLength(20);
  });
});

describe('an account', () => {
  it('turns labels off and on for later events, while events from bots stay marked', async () => {
    const userUUID = newUserUUID();
    const tokenUUID = scene.tokens.server;
    const change = (enrich: boolean) => scene.post('/account/updateAccount', { tokenUUID, enrich });
    expect((await change(false)).body.updated).toEqual(['enrich']);
    await send('/event/logEvent', { userUUID, eventID: 1 });
    await send('/event/logEvent', { userUUID, eventID: 1 }, { 'User-Agent': 'Googlebot/2.1' });
    expect((await scene.get('/account/getAccount', { tokenUUID })).body.account.enrich).toBe(false);
    await change(true);
    await send('/event/logEvent', { userUUID, eventID: 1 });
    expect(await attributesOf(userUUID)).toEqual([{}, { robot: 'true' }, onWindows]);
  });

  it('accepts events with labels if it is strict, and does not add labels to its catalogue', async () => {
    const strict = await openScene({ account: { strict: true, event: [{ eventID: 1 }] } });
    const userUUID = newUserUUID();
    expect((await send('/event/logEvent', { userUUID, eventID: 1 }, phone, 'browser', strict)).status).toBe(200);
    expect(await attributesOf(userUUID, strict)).toEqual([onPhone]);
    await strict.close();
  });

  it('does not add labels to its catalogue even if browserCatalogue is on', async () => {
    const open = await openScene({ account: { browserCatalogue: true } });
    const fields = { userUUID: newUserUUID(), eventID: 1, eventAttrArray: [{ attrID: 'price', attrValue: 9 }] };
    await send('/event/logEvent', fields, windows, 'browser', open);
    const { body } = await open.get('/account/getAccount', { tokenUUID: open.tokens.server });
    expect(body.account.attr).toMatchObject([{ attrID: 'price' }]);
    await open.close();
  });
});

describe('the country label', () => {
  const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } });
  const log = (at: Scene, userUUID: string, headers: Headers, remoteAddress: string) =>
    at.send(
      '/event/logEvent',
      {
        method: 'POST',
        body: JSON.stringify({ tokenUUID: at.tokens.browser, userUUID, eventID: 1 }),
        headers: { 'Content-Type': 'application/json', ...headers },
      },
      from(remoteAddress),
    );

  it('is added to a visitor’s event, even behind a proxy, and no address is stored or logged', async () => {
    const lookups: string[] = [];
    const countryOf = (clientAddress: string) => {
      lookups.push(clientAddress);
      return clientAddress === address ? 'NZ' : undefined;
    };
    const there = await openScene({ countryOf, trustProxy: ['10.0.0.1'] });
    const userUUID = newUserUUID();
    await log(there, userUUID, windows, address);
    await log(there, userUUID, { 'X-Forwarded-For': address }, '10.0.0.1');
    await log(there, userUUID, { 'X-Forwarded-For': address }, '198.51.100.1');
    expect(lookups).toEqual([address, address, '198.51.100.1']);
    expect(await attributesOf(userUUID, there)).toEqual([{ ...onWindows, $country: 'NZ' }, { $country: 'NZ' }, {}]);
    expect(there.logged()).not.toContain(address);
    expect(there.logged()).not.toContain('Chrome');
    await there.close();
  });

  it.each([
    ['CF-IPCountry', 'nz', 'NZ'],
    ['CloudFront-Viewer-Country', 'DE', 'DE'],
    ['X-Vercel-IP-Country', 'ZA', 'ZA'],
    ['CF-IPCountry', 'XX', 'US'],
    ['CF-IPCountry', 'T1', 'US'],
    ['CF-IPCountry', '<b>', 'US'],
    ['CF-IPCountry', '', 'US'],
  ])('is read from the header %s: %j only from a trusted proxy', async (countryHeader, sent, country) => {
    const there = await openScene({ countryHeader, countryOf: () => 'US', trustProxy: ['10.0.0.1'] });
    const userUUID = newUserUUID();
    const headers = { [countryHeader]: sent, 'X-Forwarded-For': address };
    await log(there, userUUID, headers, '10.0.0.1');
    await log(there, userUUID, headers, '198.51.100.1');
    expect(await attributesOf(userUUID, there)).toEqual([{ $country: country }, { $country: 'US' }]);
    await there.close();
  });

  it('is not added to an account without labels, or with a server token', async () => {
    const countryOf = () => 'NZ';
    const there = await openScene({ countryOf, account: { enrich: false } });
    const userUUID = newUserUUID();
    await log(there, userUUID, windows, address);
    await there.post('/event/logEvent', { tokenUUID: there.tokens.server, userUUID, eventID: 1 });
    expect(await attributesOf(userUUID, there)).toEqual([{}, {}]);
    await there.close();
  });
});

describe('a replayed event', () => {
  it('has no labels, because its headers were not stored', async () => {
    const { createReplay } = await import('../refused/replay.ts');
    const userUUID = newUserUUID();
    await send('/event/logEvent', { userUUID, eventID: 'x', eventAttrArray: [{ attrID: '$os', attrValue: 'forged' }] });
    const { requests } = await scene.store.listRefused({ beyond: 0, limit: 10 });
    const request = requests.find(({ input }) => JSON.stringify(input).includes(userUUID));
    if (request === undefined) throw new Error('the refused request is not in the list');
    expect(JSON.stringify(request)).not.toContain('Chrome');
    await createReplay(scene.store)(request, { fix: { eventID: 1 }, time: Date.now() });
    expect(await attributesOf(userUUID)).toEqual([{}]);
  });
});
