import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProof } from '../../fixtures/proof.ts';
import { makeContact, newAddress, newUserUUID } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

type Kind = 'browser' | 'server';
const create = (fields: Fields, kind: Kind = 'server') =>
  scene.post('/contact/createContact', { tokenUUID: scene.tokens[kind], contactProfileID: 'customer', ...fields });
const update = (fields: Fields) => scene.post('/contact/updateContact', { tokenUUID: scene.tokens.server, ...fields });
const get = (fields: Fields, kind: Kind = 'server') =>
  scene.get('/contact/getContact', { tokenUUID: scene.tokens[kind], ...fields });
const search = async (fields: Fields) =>
  (await scene.get('/contact/searchContact', { tokenUUID: scene.tokens.server, ...fields })).body;

describe('createContact with a server token', () => {
  it('writes the given values, and finds the contact again by its address', async () => {
    const contactEmailaddress = newAddress();
    const fields = {
      contactTitle: 'Dr',
      contactFirstname: 'Ada',
      contactEmailaddress: `  ${contactEmailaddress.toUpperCase()} `,
      contactTagID: 'vip, news,,vip',
      contactAttr: [{ attrID: 'born', attrValue: '10/12/1815' }],
    };
    const first = await create({ userUUID: newUserUUID(), ...fields });
    expect(first.body).toEqual({ exists: false, contactUUID: expect.any(String), status: '200' });
    const again = await create({ userUUID: newUserUUID(), contactEmailaddress, contactTelephone: '123' });
    expect(again.body).toEqual({ exists: true, contactUUID: first.body.contactUUID, status: '200' });
    const { contact } = (await get({ contactUUID: first.body.contactUUID })).body;
    expect(contact).toMatchObject({
      contactTitle: 'Dr',
      contactFirstname: 'Ada',
      contactLastname: '',
      contactEmailaddress,
      contactTelephone: '123',
      contactAttr: [{ attrID: 'born', attrValue: '10/12/1815' }],
      claimed: [],
    });
    expect(contact.tag).toEqual(
      expect.arrayContaining([
        { tagID: 'news', tagName: 'news', opt: true },
        { tagID: 'vip', tagName: 'vip', opt: true },
      ]),
    );
  });

  it.each([
    ['an invalid address', { contactEmailaddress: 'ada' }, 'invalid_field', 'contactEmailaddress'],
    ['no address', { contactEmailaddress: '' }, 'missing_field', 'contactEmailaddress'],
    ['no profile', { contactProfileID: '' }, 'missing_field', 'contactProfileID'],
    ['no user', { userUUID: undefined }, 'missing_field', 'userUUID'],
    ['a placeholder userUUID', { userUUID: '00000000-0000-0000-0000-000000000000' }, 'invalid_field', 'userUUID'],
    [
      'a repeated attribute',
      {
        contactAttr: [
          { attrID: 'a', attrValue: '' },
          { attrID: 'a', attrValue: '' },
        ],
      },
      'invalid_field',
      'contactAttr[1].attrID',
    ],
  ])('rejects %s', async (_, fields, code, field) => {
    const { status, body } = await create({ userUUID: newUserUUID(), contactEmailaddress: newAddress(), ...fields });
    expect([status, body.error.code, body.error.field]).toEqual([400, code, field]);
  });
});

describe('createContact with a browser token', () => {
  it('returns the same response whether or not the address is known, and overwrites nothing', async () => {
    const existing = await makeContact(scene, 'server');
    await update({ contactUUID: existing.contactUUID, contactFirstname: 'Ada' });
    const createFor = (contactEmailaddress: string) =>
      create(
        { userUUID: newUserUUID(), contactEmailaddress, contactFirstname: 'Eve', contactLastname: 'Evil' },
        'browser',
      );
    const [toKnown, toUnknown] = [await createFor(existing.contactEmailaddress), await createFor(newAddress())];
    const toComparable = ({ status, headers, body }: typeof toKnown) => [
      status,
      [...headers].map(([name, value]) => (name === 'x-request-id' ? value.length : `${name}: ${value}`)),
      JSON.stringify({ ...body, contactUUID: body.contactUUID.length }),
    ];
    expect(toComparable(toKnown)).toEqual(toComparable(toUnknown));
    const { contact } = (await get({ contactUUID: existing.contactUUID })).body;
    expect(contact).toMatchObject({ contactFirstname: 'Ada', contactLastname: 'Evil', claimed: ['contactLastname'] });
  });

  it('returns a handle that shows only its own claim, and only for its token', async () => {
    const contactEmailaddress = newAddress();
    await create({ userUUID: newUserUUID(), contactEmailaddress, contactFirstname: 'Ada', contactJobRole: 'Countess' });
    const { body } = await create({ userUUID: newUserUUID(), contactEmailaddress, contactFirstname: 'Eve' }, 'browser');
    const { contact } = (await get({ contactUUID: body.contactUUID }, 'browser')).body;
    expect(contact).toMatchObject({
      contactUUID: body.contactUUID,
      contactFirstname: 'Eve',
      contactJobRole: '',
      contactEmailaddress,
    });
    expect((await get({ contactUUID: body.contactUUID }, 'server')).status).toBe(404);
    expect((await get({ contactUUID: body.contactUUID, include: 'claim' }, 'browser')).status).toBe(403);
    const real = (await search({ contactEmailaddress })).contact[0].contactUUID;
    expect((await get({ contactUUID: real }, 'browser')).status).toBe(404);
  });

  it('reports that the contact exists if this user is already linked to it', async () => {
    const fields = { userUUID: newUserUUID(), contactEmailaddress: newAddress() };
    const [first, again] = [await create(fields, 'browser'), await create(fields, 'browser')];
    expect([first.body.exists, again.body.exists]).toEqual([false, true]);
  });

  describe('and a contactProof', () => {
    const keyOf = (token: string) => createHash('sha256').update(token).digest();
    const proven = (
      changes: Fields = {},
      seconds = Math.floor(Date.now() / 1_000),
      key = keyOf(scene.tokens.server),
    ) => {
      const [userUUID, address] = [newUserUUID(), newAddress()];
      const visitor = { browserToken: scene.tokens.browser, address, userUUID };
      const contactProof = createProof(visitor, key, seconds);
      return { userUUID, contactEmailaddress: address.toUpperCase(), contactProof, ...changes };
    };

    it('immediately verifies the address and the link, but nothing else in the request', async () => {
      const fields = proven();
      expect((await create(fields, 'browser')).status).toBe(200);
      const [{ contactUUID, claimed }] = (await search({ contactEmailaddress: fields.contactEmailaddress })).contact;
      expect(claimed).toEqual(['contactProfileID']);
      expect((await get({ contactUUID, include: 'link' })).body.link).toMatchObject([
        { userUUID: fields.userUUID, verified: true },
      ]);
    });

    it.each([
      ['for another user', () => proven({ userUUID: newUserUUID() })],
      ['for another address', () => proven({ contactEmailaddress: newAddress() })],
      ['from too long ago', () => proven({}, Date.now() / 1_000 - 700)],
      ['with another key', () => proven({}, undefined, keyOf(scene.tokens.browser))],
      ['with a revoked key', () => proven({}, undefined, keyOf(scene.tokens.revoked))],
      ['that is malformed', () => proven({ contactProof: 'trust me' })],
    ])('rejects a proof %s, and stores nothing', async (_, fields) => {
      const request = fields();
      const { status, body } = await create(request, 'browser');
      expect([status, body.error.field]).toEqual([400, 'contactProof']);
      expect((await search({ contactEmailaddress: request.contactEmailaddress as string })).contact).toEqual([]);
    });
  });
});

describe('updateContact', () => {
  it('changes the given fields, clears those that are null, and returns which changed', async () => {
    const { contactUUID } = await makeContact(scene);
    await update({
      contactUUID,
      contactTitle: 'Dr',
      contactMobile: '1',
      contactTagID: 'a,b',
      contactAttr: [
        { attrID: 'x', attrValue: '1' },
        { attrID: 'y', attrValue: '2' },
      ],
    });
    const { body } = await update({
      contactUUID,
      contactTitle: null,
      contactMobile: '',
      contactLastname: 'Lovelace',
      contactTagID: '-a,c',
      contactAttr: [{ attrID: 'x', attrValue: null }],
      contactStatus: 'archived',
    });
    expect(body.contactUUID).toBe(contactUUID);
    expect(body.updated).toEqual(expect.arrayContaining(['contactTitle', 'contactLastname', 'contactStatus']));
    expect(body.updated).not.toContain('contactMobile');
    const { contact } = (await get({ contactUUID })).body;
    expect(contact).toMatchObject({
      contactTitle: '',
      contactMobile: '1',
      contactLastname: 'Lovelace',
      contactStatus: 'archived',
      contactAttr: [{ attrID: 'y', attrValue: '2' }],
    });
    expect(contact.tag.filter(({ opt }: { opt: boolean }) => opt).map(({ tagID }: { tagID: string }) => tagID)).toEqual(
      ['b', 'c'],
    );
  });

  it('finds the contact by its address', async () => {
    const { contactUUID, contactEmailaddress } = await makeContact(scene);
    expect((await update({ contactEmailaddress, contactTitle: 'Dr' })).body).toMatchObject({
      contactUUID,
      updated: ['contactTitle'],
    });
  });

  it('rejects another contact’s address, and changes nothing', async () => {
    const [one, other] = [await makeContact(scene), await makeContact(scene)];
    const fields = { contactUUID: one.contactUUID, contactTitle: 'Dr', contactEmailaddress: other.contactEmailaddress };
    const { status, body } = await update(fields);
    expect([status, body.error.code]).toEqual([409, 'email_taken']);
    expect((await get({ contactUUID: one.contactUUID })).body.contact.contactTitle).toBe('');
  });

  it.each([
    ['a missing contact', { contactTitle: 'Dr' }, 400, 'contactUUID'],
    ['an unknown contact', { contactUUID: 'unknown' }, 404, 'contactUUID'],
    ['an invalid address', { contactUUID: 'unknown', contactEmailaddress: 'ada' }, 400, 'contactEmailaddress'],
  ])('rejects %s', async (_, fields, status, field) => {
    const response = await update(fields);
    expect([response.status, response.body.error.field]).toEqual([status, field]);
  });
});

describe('searchContact', () => {
  it('sorts by the last-seen time page by page, and returns this time', async () => {
    const tag = 'seen-or-not';
    const created: string[] = [];
    for (const userUUID of ['visitor-who-was-not-seen', 'visitor-who-was-seen']) {
      const { body } = await scene.post('/createContact', {
        tokenUUID: scene.tokens.server,
        userUUID,
        contactEmailaddress: newAddress(),
        contactProfileID: 'customer',
        contactTagID: tag,
      });
      created.push(body.contactUUID);
    }
    const event = { tokenUUID: scene.tokens.server, userUUID: 'visitor-who-was-seen', eventID: 1 };
    expect((await scene.post('/event/logEvent', event)).status).toBe(200);
    const filter = { contactTagID: tag, sort: 'seen', limit: 1 };
    const today = new Date().toISOString().slice(0, 10);
    const first = await search({ ...filter, order: 'desc' });
    expect(first.contact).toMatchObject([{ contactUUID: created[1], lastSeenTime: `${today}T00:00:00.000Z` }]);
    const second = await search({ ...filter, order: 'desc', cursor: first.nextCursor });
    expect(second).toMatchObject({ contact: [{ contactUUID: created[0] }], nextCursor: '' });
    expect(second.contact[0]).not.toHaveProperty('lastSeenTime');
    expect((await search({ contactTagID: tag, seenFrom: today })).contact).toMatchObject([{ contactUUID: created[1] }]);
    expect((await search({ contactTagID: tag, seenTo: today })).contact).toEqual([]);
    const { error } = await search({ ...filter, sort: 'created', cursor: first.nextCursor });
    expect(error).toMatchObject({ code: 'invalid_field', field: 'cursor' });
  });

  it('responds to a thousand unusual filters with 200 or the name of the invalid field', async () => {
    const odd = [
      '',
      ' ',
      '0',
      '-1',
      '%',
      '_',
      "'",
      '"',
      '\\',
      '\u0000',
      '😀',
      'ünïcode',
      'a'.repeat(300),
      'null',
      '{}',
      '[]',
      '1e99',
      '9007199254740993',
      '-9223372036854775808',
      '1970-01-01',
      '9999-12-31T23:59:59Z',
      '0001-01-01',
      'NaN',
      'true',
      'desc',
      'seen',
      'created',
      'active',
      'unsubscribed',
      'YzIuMS4x',
      'czEuMC4w',
      'customer',
      'ann@shop.example',
    ];
    const fields = [
      'text',
      'contactEmailaddress',
      'contactProfileID',
      'contactTagID',
      'contactStatus',
      'attrID',
      'attrValue',
      'createdFrom',
      'createdTo',
      'seenFrom',
      'seenTo',
      'sort',
      'order',
      'limit',
      'cursor',
    ];
    const statuses = new Set<number>();
    for (let nth = 0; nth < 1_000; nth += 1) {
      const chosen = [0, 1, 2].map((part) => {
        const field = fields[(nth * 7 + part * 5) % fields.length] as string;
        return [field, odd[(nth * 11 + part * 13) % odd.length]];
      });
      const query = Object.fromEntries(chosen.slice(0, 1 + (nth % 3)));
      const { status, body } = await scene.get('/contact/searchContact', { tokenUUID: scene.tokens.server, ...query });
      statuses.add(status);
      if (status === 400) expect(body.error.field, JSON.stringify(query)).toBeTypeOf('string');
      else expect([status, query]).toEqual([200, query]);
    }
    expect([...statuses].sort()).toEqual([200, 400]);
  });

  it('returns pages', async () => {
    const created = [await makeContact(scene), await makeContact(scene), await makeContact(scene)];
    for (const { contactUUID } of created) await update({ contactUUID, contactTagID: 'paged' });
    const contactUUIDs: string[] = [];
    let cursor = '';
    do {
      const page = await search({ contactTagID: 'paged', limit: 2, cursor });
      contactUUIDs.push(...page.contact.map(({ contactUUID }: { contactUUID: string }) => contactUUID));
      cursor = page.nextCursor;
    } while (cursor);
    expect(contactUUIDs.toSorted()).toEqual(created.map(({ contactUUID }) => contactUUID).toSorted());
  });
});

describe('exportContact and eraseContact', () => {
  it('return everything page by page, then 410 after the erasure', async () => {
    const { userUUID, contactUUID, contactEmailaddress } = await makeContact(scene);
    const event = [1, 2, 3].map((eventID) => ({ eventID }));
    await scene.post('/event/logEvents', { tokenUUID: scene.tokens.browser, userUUID, event });
    await create({ userUUID, contactEmailaddress, contactLastname: 'L' }, 'browser');
    const readExport = (fields: Fields) =>
      scene.post('/contact/exportContact', { tokenUUID: scene.tokens.server, ...fields });
    const first = (await readExport({ contactUUID, limit: 2 })).body;
    expect(first).toMatchObject({
      contact: { contactUUID },
      link: [
        { userUUID, contactUUID, verified: true },
        { userUUID, contactUUID, verified: false },
      ],
      claim: [{ userUUID, contact: { contactLastname: 'L' } }],
    });
    const second = (await readExport({ contactEmailaddress, limit: 2, cursor: first.nextCursor })).body;
    expect([...first.event, ...second.event].map(({ eventID }) => eventID)).toEqual([1, 2, 3]);
    expect(second).toMatchObject({ claim: [], link: [], nextCursor: '' });

    const erase = await scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactEmailaddress });
    expect(erase.body).toMatchObject({ contactUUID, erasedTime: expect.stringMatching(/Z$/) });
    expect((await get({ contactUUID })).status).toBe(410);
    expect((await readExport({ contactUUID })).status).toBe(410);
  });

  it('exports values as sent under a merged entry’s ID, which no other read does', async () => {
    const { userUUID, contactUUID } = await makeContact(scene);
    const token = { tokenUUID: scene.tokens.server };
    const attributes = ['Size', 'size'].map((attrID) => ({ attrID, attrValue: attrID }));
    await scene.post('/contact/updateContact', {
      ...token,
      contactUUID,
      contactAttr: attributes,
      contactTagID: 'Big,big',
    });
    await scene.post('/event/logEvent', { ...token, userUUID, eventID: 1, eventAttrArray: attributes });
    const readExport = async () => (await scene.post('/contact/exportContact', { ...token, contactUUID })).body;
    const before = await readExport();
    expect(before.event[0].eventAttrArray).toEqual(attributes);
    for (const [catalogue, entryID, otherEntryID] of [
      ['attr', 'size', 'Size'],
      ['tag', 'big', 'Big'],
    ])
      await scene.post('/account/mergeEntry', { ...token, catalogue, entryID, otherEntryID });
    expect((await get({ contactUUID })).body.contact.contactAttr).toEqual([attributes[1]]);
    expect(await readExport()).toEqual(before);
  });

  it('list every claim and link page by page, as getContact does, with the total number', async () => {
    const contactEmailaddress = 'claimed-by-many@example.com';
    const userUUIDs = Array.from({ length: 130 }, (_, nth) => `visitor-of-many-${nth}`);
    for (const userUUID of userUUIDs) await create({ userUUID, contactEmailaddress }, 'browser');
    await scene.post('/event/logEvent', { tokenUUID: scene.tokens.server, userUUID: userUUIDs[0], eventID: 1 });
    /** Returns the users in each list, including duplicates. */
    const readAll = async (readPage: (cursor: string) => Promise<Fields>) => {
      const users: Record<'claim' | 'link' | 'event', string[]> = { claim: [], link: [], event: [] };
      let cursor = '';
      do {
        const body = await readPage(cursor);
        for (const [name, userUUIDs] of Object.entries(users)) {
          userUUIDs.push(...((body[name] ?? []) as Fields[]).map(({ userUUID }) => userUUID as string));
        }
        cursor = body.nextCursor as string;
      } while (cursor);
      return users;
    };
    const token = { tokenUUID: scene.tokens.server };
    let contactUUID = '';
    const exported = await readAll(async (cursor) => {
      const { body } = await scene.post('/contact/exportContact', { ...token, contactEmailaddress, cursor });
      contactUUID = body.contact.contactUUID;
      return body;
    });
    expect(exported).toEqual({ claim: userUUIDs, link: userUUIDs, event: [userUUIDs[0]] });
    const query = { contactUUID, include: 'claim,link' };
    const lists = await readAll(async (cursor) => (await get({ ...query, ...(cursor && { cursor }) })).body);
    expect(lists).toEqual({ ...exported, event: [] });
    const first = (await get(query)).body;
    expect(first).toMatchObject({ claimCount: 130, linkCount: 130 });
    const without = await get({ contactUUID, cursor: first.nextCursor });
    expect(without.body).toMatchObject({ error: { code: 'invalid_field', field: 'cursor' } });
    expect((await get({ contactUUID })).body).not.toHaveProperty('nextCursor');
  });

  it('mark events that only a claim assigns to the contact in exportContact, and keep them in eraseContact with verifiedOnly', async () => {
    const userUUID = 'visitor-who-claims-0001';
    const contactEmailaddress = 'claimed-only@example.com';
    const log = (fields: Fields) => scene.post('/event/logEvent', { tokenUUID: scene.tokens.server, ...fields });
    await create({ userUUID, contactEmailaddress }, 'browser');
    await log({ userUUID, eventID: 1 });
    const { body } = await scene.post('/contact/exportContact', {
      tokenUUID: scene.tokens.server,
      contactEmailaddress,
    });
    const { contactUUID } = body.contact;
    await log({ contactUUID, eventID: 2 });
    const readExport = () => scene.post('/contact/exportContact', { tokenUUID: scene.tokens.server, contactUUID });
    const { event } = (await readExport()).body;
    expect(event.map(({ eventID, claimed }: Fields) => [eventID, claimed])).toEqual([
      [1, true],
      [2, undefined],
    ]);
    const erase = (verifiedOnly: unknown) =>
      scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactUUID, verifiedOnly });
    expect((await erase('perhaps')).body).toMatchObject({ error: { code: 'invalid_field', field: 'verifiedOnly' } });
    expect((await erase(true)).status).toBe(200);
    expect((await readExport()).status).toBe(410);
    const remaining = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID });
    expect(remaining.body.event).toMatchObject([{ eventID: 1, contactUUID: '' }]);
  });
});
