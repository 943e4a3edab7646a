import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAddress } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

let scene: Scene;
let other: { accountUUID: string; serverTokenUUID: string; browserTokenUUID: string };
beforeAll(async () => {
  scene = await openScene();
  other = (await scene.post('/account/createAccount', { tokenUUID: scene.tokens.operator, accountName: 'Other' })).body;
});
afterAll(() => scene.close());

const update = (fields: Fields, tokenUUID = scene.tokens.server) =>
  scene.post('/account/updateAccount', { tokenUUID, ...fields });
const get = async (fields: Fields = {}, tokenUUID = scene.tokens.server) =>
  scene.get('/account/getAccount', { tokenUUID, ...fields });

describe('createAccount', () => {
  it('creates an account with its catalogues, tokens and contacts', async () => {
    const contactEmailaddress = newAddress();
    const { body } = await scene.post('/account/createAccount', {
      tokenUUID: scene.tokens.operator,
      accountName: 'Shop',
      accountOrigin: ['HTTPS://Shop.Example:443/', 'https://*.shop.example', 'https://shop.example'],
      accountTimezone: 'Europe/London',
      accountCurrency: 'GBP',
      strict: true,
      enrich: false,
      profile: [{ profileID: 'customer', profileName: 'Customer' }],
      tag: [{ tagID: 'vip', tagName: 'Very important', browser: false }],
      attr: [{ attrID: 'born', attrType: 'date' }],
      event: [{ eventID: 7, eventName: 'bought' }],
      contact: [
        { contactEmailaddress, contactProfileID: 'customer', contactTagID: 'vip' },
        { contactEmailaddress: 'none' },
        5,
      ],
    });
    expect(body).toEqual({
      accountUUID: expect.stringMatching(/^[\w-]{21}$/),
      browserTokenUUID: expect.stringMatching(/^browser_[\w-]{24}$/),
      serverTokenUUID: expect.stringMatching(/^server_[\w-]{24}$/),
      contact: [
        { status: '200', exists: false, contactUUID: expect.any(String) },
        {
          status: '400',
          error: expect.objectContaining({ code: 'invalid_field', field: 'contact[1].contactEmailaddress' }),
        },
        { status: '400', error: expect.objectContaining({ field: 'contact[2]' }) },
      ],
      status: '200',
    });
    const { account } = (await get({}, body.serverTokenUUID)).body;
    expect(account).toMatchObject({
      accountUUID: body.accountUUID,
      accountName: 'Shop',
      accountOrigin: ['https://shop.example', 'https://*.shop.example'],
      accountTimezone: 'Europe/London',
      accountCurrency: 'GBP',
      strict: true,
      enrich: false,
      profile: [{ profileID: 'customer', profileName: 'Customer', browser: true }],
      tag: [{ tagID: 'vip', tagName: 'Very important', browser: false }],
      attr: [{ attrID: 'born', attrName: 'born', attrType: 'date', browser: true }],
      event: [{ eventID: 7, eventName: 'bought', browser: true }],
      usage: { contacts: 1, users: 0, events: 0, storedBytes: expect.any(Number) },
      limits: { ...limits, accountBytes: null },
    });
    expect(account.token).toMatchObject([
      { tokenKind: 'browser', tokenUUID: body.browserTokenUUID },
      { tokenKind: 'server' },
    ]);
    expect(JSON.stringify(account)).not.toContain(body.serverTokenUUID);
  });

  it.each([
    ['an origin with a path', { accountOrigin: ['https://shop.example/cart'] }, 'accountOrigin[0]'],
    ['a whole top-level domain', { accountOrigin: ['https://*.com'] }, 'accountOrigin[0]'],
    ['an unknown time zone', { accountTimezone: 'Mars/Olympus' }, 'accountTimezone'],
    ['an unknown currency', { accountCurrency: 'EUX' }, 'accountCurrency'],
    ['a currency by its name', { accountCurrency: 'euro' }, 'accountCurrency'],
    ['an invalid flag', { enrich: 'yes' }, 'enrich'],
    ['an invalid profile', { defaultProfileID: '-lead' }, 'defaultProfileID'],
    ['an entry without its ID', { tag: [{ tagName: 'x' }] }, 'tag[0].tagID'],
    ['too many contacts', { contact: Array(101).fill({}) }, 'contact'],
    ['no name', { accountName: '' }, 'accountName'],
  ])('rejects %s', async (_, fields, field) => {
    const { status, body } = await scene.post('/account/createAccount', {
      tokenUUID: scene.tokens.operator,
      accountName: 'Shop',
      ...fields,
    });
    expect([status, body.error.field]).toEqual([400, field]);
  });
});

describe('updateAccount', () => {
  it('does not count the account’s objects for a caller that sends accountUUID', async () => {
    let countCalls = 0;
    const quiet = await openScene({
      wrap: (store) => ({
        ...store,
        getAccount: (account) => {
          countCalls++;
          return store.getAccount(account);
        },
      }),
    });
    const { accountUUID, tokens } = quiet;
    for (const tokenUUID of [tokens.operator, tokens.server]) {
      const { body } = await quiet.post('/account/updateAccount', { tokenUUID, accountUUID, accountName: 'New' });
      expect(body.accountUUID).toBe(accountUUID);
    }
    await quiet.close();
    expect(countCalls).toBe(0);
  });

  it('changes only the given fields', async () => {
    const before = (await get()).body.account;
    const { body } = await update({ accountOrigin: ['https://shop.example'], tag: [{ tagID: 'new' }] });
    expect(body).toEqual({
      accountUUID: scene.accountUUID,
      updated: ['accountOrigin', 'tag'],
      contact: [],
      status: '200',
    });
    const { account } = (await get()).body;
    expect(account).toEqual({
      ...before,
      accountOrigin: ['https://shop.example'],
      tag: [{ tagID: 'new', tagName: 'new', browser: true }],
    });
    await update({ accountOrigin: [] });
    expect((await get()).body.account.accountOrigin).toEqual([]);
  });

  it('returns the names of the fields whose values changed', async () => {
    const changes = { accountTimezone: 'Asia/Tokyo', tag: [{ tagID: 'renamed', tagName: 'Renamed' }] };
    expect((await update(changes)).body.updated).toEqual(['accountTimezone', 'tag']);
    expect((await update(changes)).body.updated).toEqual([]);
    const changed = { ...changes, strict: false, accountTimezone: 'UTC', enrich: false };
    expect((await update(changed)).body.updated).toEqual(['accountTimezone', 'enrich']);
  });

  it('sets and clears the currency', async () => {
    const currency = async () => (await get()).body.account.accountCurrency;
    expect(await currency()).toBe('');
    expect((await update({ accountCurrency: 'EUR' })).body.updated).toEqual(['accountCurrency']);
    expect((await update({ accountCurrency: '' })).body.updated).toEqual([]);
    expect(await currency()).toBe('EUR');
    expect((await update({ accountCurrency: null })).body.updated).toEqual(['accountCurrency']);
    expect(await currency()).toBe('');
  });

  it('adds the default profile to the catalogue, and can clear the setting', async () => {
    const profile = [{ profileID: 'member', profileName: 'Member' }];
    expect((await update({ profile, defaultProfileID: 'lead' })).body.updated).toEqual(['defaultProfileID', 'profile']);
    expect((await update({ defaultProfileID: 'lead' })).body.updated).toEqual([]);
    expect((await get()).body.account).toMatchObject({
      defaultProfileID: 'lead',
      profile: [{ profileID: 'lead', profileName: 'lead' }, { profileID: 'member' }],
    });
    expect((await update({ defaultProfileID: null })).body.updated).toEqual(['defaultProfileID']);
    expect((await get()).body.account.defaultProfileID).toBe('');
  });

  it('creates new contacts and updates existing ones', async () => {
    const contactEmailaddress = newAddress();
    const created = (await update({ contact: [{ contactEmailaddress, contactTitle: 'Dr' }] })).body.contact[0];
    const { body } = await update({
      contact: [
        { contactEmailaddress, contactTitle: null },
        { contactUUID: 'nobody', contactTitle: 'Dr' },
        { contactUUID: created.contactUUID, contactLastname: 'L' },
        {},
      ],
    });
    expect(body.contact).toMatchObject([
      { status: '200', exists: true, contactUUID: created.contactUUID },
      { status: '404', error: { code: 'unknown_contact', field: 'contact[1].contactUUID' } },
      { status: '200', exists: true },
      { status: '400', error: { field: 'contact[3].contactUUID' } },
    ]);
  });
});

describe('the account in a request', () => {
  it.each([
    ['a server token', () => scene.tokens.server, {}, 200],
    [
      'a server token that sends its own accountUUID',
      () => scene.tokens.server,
      () => ({ accountUUID: scene.accountUUID }),
      200,
    ],
    [
      'a server token that sends another accountUUID',
      () => scene.tokens.server,
      () => ({ accountUUID: other.accountUUID }),
      404,
    ],
    ['a server token that sends an unknown accountUUID', () => scene.tokens.server, { accountUUID: 'nobody' }, 404],
    [
      'an operator token that sends an accountUUID',
      () => scene.tokens.operator,
      () => ({ accountUUID: other.accountUUID }),
      200,
    ],
    [
      'an operator token that sends an unknown accountUUID',
      () => scene.tokens.operator,
      { accountUUID: 'nobody' },
      404,
    ],
    ['an operator token that sends no accountUUID', () => scene.tokens.operator, {}, 400],
  ])('is checked for %s', async (_, token, account, status) => {
    const fields = typeof account === 'function' ? account() : account;
    for (const response of [await get(fields, token()), await update(fields, token())]) {
      expect(response.status).toBe(status);
      if (status !== 200) expect(response.body.error.field).toBe('accountUUID');
    }
  });
});

describe('tokens', () => {
  it('work from their creation until they are revoked', async () => {
    const tokenUUID = scene.tokens.server;
    const created = (await scene.post('/account/createToken', { tokenUUID, tokenKind: 'server', tokenName: 'till' }))
      .body;
    expect((await get({}, created.tokenUUID)).status).toBe(200);
    const revoked = await scene.post('/account/revokeToken', { tokenUUID, tokenID: created.tokenID });
    expect(revoked.body).toMatchObject({ tokenID: created.tokenID, revokedTime: expect.stringMatching(/Z$/) });
    expect((await get({}, created.tokenUUID)).status).toBe(401);
    const again = await scene.post('/account/revokeToken', { tokenUUID, tokenID: created.tokenID });
    expect(again.body.revokedTime).toBe(revoked.body.revokedTime);
    const { token } = (await get()).body.account;
    const tokenEntry = token.find(({ tokenID }: { tokenID: string }) => tokenID === created.tokenID);
    expect(tokenEntry).toMatchObject({ tokenName: 'till', tokenKind: 'server', revokedTime: revoked.body.revokedTime });
  });

  it('are unknown to other accounts', async () => {
    const tokenUUID = other.serverTokenUUID;
    const created = (await scene.post('/account/createToken', { tokenUUID, tokenKind: 'browser' })).body;
    const response = await scene.post('/account/revokeToken', {
      tokenUUID: scene.tokens.server,
      tokenID: created.tokenID,
    });
    expect([response.status, response.body.error.code]).toEqual([404, 'unknown_token']);
  });

  it('are never operator tokens', async () => {
    const response = await scene.post('/account/createToken', {
      tokenUUID: scene.tokens.server,
      tokenKind: 'operator',
    });
    expect([response.status, response.body.error.field]).toEqual([400, 'tokenKind']);
  });
});

describe('an event in a catalogue', () => {
  it('can be added by its name alone, but not removed by it', async () => {
    expect((await update({ event: [{ eventName: 'Signed up' }, { eventID: 70, eventName: '12' }] })).status).toBe(200);
    expect((await get()).body.account.event).toEqual(
      expect.arrayContaining([
        { eventID: 70, eventName: '12', browser: true },
        { eventID: 1_000_000, eventName: 'Signed up', browser: true },
      ]),
    );
    for (const [entry, code, field] of [
      [{}, 'missing_field', 'event[0].eventID'],
      [{ eventName: 'Signed up', remove: true }, 'missing_field', 'event[0].eventID'],
      [{ eventName: '12' }, 'invalid_field', 'event[0].eventName'],
    ] as const) {
      const { status, body } = await update({ event: [entry] });
      expect([status, body.error.code, body.error.field]).toEqual([400, code, field]);
    }
  });
});

describe('an entry in a catalogue', () => {
  const use = async (fields: Fields) => {
    const { body } = await scene.post('/createContact', {
      tokenUUID: scene.tokens.server,
      userUUID: 'visitor-who-uses-ids',
      contactEmailaddress: newAddress(),
      contactProfileID: 'customer',
      ...fields,
    });
    return body.contactUUID as string;
  };
  const log = (fields: Fields) =>
    scene.post('/event/logEvent', {
      tokenUUID: scene.tokens.server,
      userUUID: 'visitor-who-uses-ids',
      eventID: 71,
      ...fields,
    });

  it.each<[string, string, Fields, () => Promise<unknown>]>([
    [
      'a profile of a contact',
      'profile[1].profileID',
      { profile: [{ profileID: 'unused' }, { profileID: 'used-1' }] },
      () => use({ contactProfileID: 'used-1' }),
    ],
    ['a tag of a contact', 'tag[0].tagID', { tag: [{ tagID: 'used-2' }] }, () => use({ contactTagID: 'used-2' })],
    [
      'an attribute of a contact',
      'attr[0].attrID',
      { attr: [{ attrID: 'used-3' }] },
      () => use({ contactAttr: [{ attrID: 'used-3', attrValue: 'v' }] }),
    ],
    [
      'an attribute of an event',
      'attr[0].attrID',
      { attr: [{ attrID: 'used-4' }] },
      () => log({ eventAttrArray: [{ attrID: 'used-4', attrValue: 'v' }] }),
    ],
    ['the ID of an event', 'event[0].eventID', { event: [{ eventID: 72 }] }, () => log({ eventID: 72 })],
  ])('is not removed while it is %s', async (_, field, catalogues, useIt) => {
    expect((await update(catalogues)).status).toBe(200);
    await useIt();
    const before = (await get()).body.account;
    const [[name, entries]] = Object.entries(catalogues) as [[string, Fields[]]];
    const { status, body } = await update({
      [name]: entries.map((entry) => ({ ...entry, remove: true })),
      accountName: 'Changed',
    });
    expect([status, body.error.code, body.error.field]).toEqual([409, 'id_in_use', field]);
    expect((await get()).body.account).toMatchObject({ accountName: before.accountName, [name]: before[name] });
  });

  it('is removed once nothing uses it, and the audit log lists the changed catalogue', async () => {
    const contactUUID = await use({ contactTagID: 'once' });
    const tags = async () => (await get()).body.account.tag.map(({ tagID }: Fields) => tagID);
    expect(await tags()).toContain('once');
    await scene.post('/contact/updateContact', { tokenUUID: scene.tokens.server, contactUUID, contactTagID: '-once' });
    const { body } = await update({ tag: [{ tagID: 'once', remove: true }] });
    expect(body).toMatchObject({ status: '200', updated: ['tag'] });
    expect(await tags()).not.toContain('once');
    const { audit } = (await scene.get('/account/listAudit', { tokenUUID: scene.tokens.server, limit: 1 })).body;
    expect(audit).toMatchObject([{ action: 'updateAccount', subject: { field: ['tag'] } }]);
  });

  describe('when removed with force', () => {
    const listIDs = async (kind: string) =>
      (await get()).body.account[kind].map((entry: Fields) => entry[`${kind}ID`] as string | number);
    const find = async (fields: Fields) =>
      (await scene.get('/contact/searchContact', { tokenUUID: scene.tokens.server, ...fields })).body.contact;

    it.each([
      ['profile', { contactProfileID: 'forced' }, { contactProfileID: 'forced' }],
      ['tag', { contactTagID: 'forced' }, { contactTagID: 'forced' }],
      ['attr', { contactAttr: [{ attrID: 'forced', attrValue: 'v' }] }, { attrID: 'forced' }],
    ])(
      'disappears from every contact that has the %s, through its own value or through a claim',
      async (kind, fields, search) => {
        await use(fields);
        const claimed = {
          tokenUUID: scene.tokens.browser,
          userUUID: 'visitor-who-claims-ids',
          contactProfileID: 'customer',
          ...fields,
        };
        expect((await update({ [kind]: [{ [`${kind}ID`]: 'forced', browser: true }] })).status).toBe(200);
        for (let nth = 0; nth < 3; nth += 1) {
          await scene.post('/createContact', { ...claimed, contactEmailaddress: newAddress() });
        }
        expect((await find(search)).length).toBe(4);
        const forced = { [`${kind}ID`]: 'forced', remove: true, force: true };
        expect(await update({ [kind]: [forced] })).toMatchObject({ status: 200, body: { updated: [kind] } });
        expect(await find(search)).toEqual([]);
        expect(await listIDs(kind)).not.toContain('forced');
        expect(await update({ [kind]: [forced] })).toMatchObject({ status: 200, body: { updated: [] } });
      },
    );

    it('keeps a removed name’s events, which then show their eventID, and makes room for another name', async () => {
      const junk = { tokenUUID: scene.tokens.browser, userUUID: 'visitor-who-sends-junk' };
      const event = Array.from({ length: 500 }, (_, nth) => ({ eventName: `junk ${nth}` }));
      await scene.post('/event/logEvents', { ...junk, event });
      const logName = async (eventName: string) => {
        expect((await scene.post('/event/logEvent', { ...junk, eventName })).status).toBe(200);
        return (await get()).body.account.event.some((entry: Fields) => entry.eventName === eventName);
      };
      expect(await logName('a new name')).toBe(false);
      const added = (await get()).body.account.event.filter(({ eventName }: Fields) => /^junk/.test(`${eventName}`));
      const removed: Fields[] = added.map(({ eventID }: Fields) => ({ eventID, remove: true }));
      expect((await update({ event: removed })).body.error.code).toBe('id_in_use');
      const forced = removed.map((entry) => ({ ...entry, force: true }));
      expect((await update({ event: forced })).status).toBe(200);
      expect(await logName('a new name')).toBe(true);
      const { eventID } = added[0];
      const response = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, eventID });
      expect(response.body.event).toMatchObject([{ eventID, eventName: String(eventID) }]);
      // The name gets another ID, so that earlier events don't match it.
      expect(await logName('junk 0')).toBe(true);
      expect(await listIDs('event')).not.toContain(eventID);
    });

    it('requires `remove`', async () => {
      const { status, body } = await update({ tag: [{ tagID: 'kept', force: true }] });
      expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'tag[0].force']);
    });
  });
});
