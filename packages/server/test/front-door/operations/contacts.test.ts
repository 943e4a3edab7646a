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
  it('writes what is given, and finds the contact again by its address', async () => {
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
    ['an address that is none', { contactEmailaddress: 'ada' }, 'invalid_field', 'contactEmailaddress'],
    ['no address', { contactEmailaddress: '' }, 'missing_field', 'contactEmailaddress'],
    ['no profile', { contactProfileID: '' }, 'missing_field', 'contactProfileID'],
    ['no user', { userUUID: undefined }, 'missing_field', 'userUUID'],
    ['a user who is everybody', { userUUID: '00000000-0000-0000-0000-000000000000' }, 'invalid_field', 'userUUID'],
    [
      'an attribute twice',
      {
        contactAttr: [
          { attrID: 'a', attrValue: '' },
          { attrID: 'a', attrValue: '' },
        ],
      },
      'invalid_field',
      'contactAttr[1].attrID',
    ],
  ])('refuses %s', async (_, fields, code, field) => {
    const { status, body } = await create({ userUUID: newUserUUID(), contactEmailaddress: newAddress(), ...fields });
    expect([status, body.error.code, body.error.field]).toEqual([400, code, field]);
  });
});

describe('createContact with a browser token', () => {
  it('answers the same whether or not the address is known, and overwrites nothing', async () => {
    const known = await makeContact(scene, 'server');
    await update({ contactUUID: known.contactUUID, contactFirstname: 'Ada' });
    const ask = (contactEmailaddress: string) =>
      create(
        { userUUID: newUserUUID(), contactEmailaddress, contactFirstname: 'Eve', contactLastname: 'Evil' },
        'browser',
      );
    const [toKnown, toUnknown] = [await ask(known.contactEmailaddress), await ask(newAddress())];
    const alike = ({ status, headers, body }: typeof toKnown) => [
      status,
      [...headers].map(([name, value]) => (name === 'x-request-id' ? value.length : `${name}: ${value}`)),
      JSON.stringify({ ...body, contactUUID: body.contactUUID.length }),
    ];
    expect(alike(toKnown)).toEqual(alike(toUnknown));
    const { contact } = (await get({ contactUUID: known.contactUUID })).body;
    expect(contact).toMatchObject({ contactFirstname: 'Ada', contactLastname: 'Evil', claimed: ['contactLastname'] });
  });

  it('gives a handle, good for its own words with that token only', async () => {
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

  it('says exists when this user is linked to that contact already', async () => {
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
      const vouched = { browserToken: scene.tokens.browser, address, userUUID };
      const contactProof = createProof(vouched, key, seconds);
      return { userUUID, contactEmailaddress: address.toUpperCase(), contactProof, ...changes };
    };

    it('verifies the address and the link at once, and nothing else that comes with it', async () => {
      const fields = proven();
      expect((await create(fields, 'browser')).status).toBe(200);
      const [{ contactUUID, claimed }] = (await search({ contactEmailaddress: fields.contactEmailaddress })).contact;
      expect(claimed).toEqual(['contactProfileID']);
      expect((await get({ contactUUID, include: 'link' })).body.link).toMatchObject([
        { userUUID: fields.userUUID, verified: true },
      ]);
    });

    it.each([
      ['of another user', () => proven({ userUUID: newUserUUID() })],
      ['of another address', () => proven({ contactEmailaddress: newAddress() })],
      ['from too long ago', () => proven({}, Date.now() / 1_000 - 700)],
      ['with another key', () => proven({}, undefined, keyOf(scene.tokens.browser))],
      ['with a revoked key', () => proven({}, undefined, keyOf(scene.tokens.revoked))],
      ['that is none', () => proven({ contactProof: 'trust me' })],
    ])('%s is refused, and nothing is kept', async (_, fields) => {
      const given = fields();
      const { status, body } = await create(given, 'browser');
      expect([status, body.error.field]).toEqual([400, 'contactProof']);
      expect((await search({ contactEmailaddress: given.contactEmailaddress as string })).contact).toEqual([]);
    });
  });
});

describe('updateContact', () => {
  it('changes what is given, clears what is null, and says what changed', async () => {
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

  it('never takes another’s address, and then changes nothing', async () => {
    const [one, other] = [await makeContact(scene), await makeContact(scene)];
    const fields = { contactUUID: one.contactUUID, contactTitle: 'Dr', contactEmailaddress: other.contactEmailaddress };
    const { status, body } = await update(fields);
    expect([status, body.error.code]).toEqual([409, 'email_taken']);
    expect((await get({ contactUUID: one.contactUUID })).body.contact.contactTitle).toBe('');
  });

  it.each([
    ['nobody', { contactTitle: 'Dr' }, 400, 'contactUUID'],
    ['someone unknown', { contactUUID: 'unknown' }, 404, 'contactUUID'],
    ['an address that is none', { contactUUID: 'unknown', contactEmailaddress: 'ada' }, 400, 'contactEmailaddress'],
  ])('refuses %s', async (_, fields, status, field) => {
    const answer = await update(fields);
    expect([answer.status, answer.body.error.field]).toEqual([status, field]);
  });
});

describe('searchContact', () => {
  it('sorts by when contacts were last seen, page by page, and says when', async () => {
    const tag = 'seen-or-not';
    const made: string[] = [];
    for (const userUUID of ['visitor-who-was-not-seen', 'visitor-who-was-seen']) {
      const { body } = await scene.post('/createContact', {
        tokenUUID: scene.tokens.server,
        userUUID,
        contactEmailaddress: newAddress(),
        contactProfileID: 'customer',
        contactTagID: tag,
      });
      made.push(body.contactUUID);
    }
    const event = { tokenUUID: scene.tokens.server, userUUID: 'visitor-who-was-seen', eventID: 1 };
    expect((await scene.post('/event/logEvent', event)).status).toBe(200);
    const filter = { contactTagID: tag, sort: 'seen', limit: 1 };
    const today = new Date().toISOString().slice(0, 10);
    const first = await search({ ...filter, order: 'desc' });
    expect(first.contact).toMatchObject([{ contactUUID: made[1], lastSeenTime: `${today}T00:00:00.000Z` }]);
    const second = await search({ ...filter, order: 'desc', cursor: first.nextCursor });
    expect(second).toMatchObject({ contact: [{ contactUUID: made[0] }], nextCursor: '' });
    expect(second.contact[0]).not.toHaveProperty('lastSeenTime');
    expect((await search({ contactTagID: tag, seenFrom: today })).contact).toMatchObject([{ contactUUID: made[1] }]);
    expect((await search({ contactTagID: tag, seenTo: today })).contact).toEqual([]);
    const { error } = await search({ ...filter, sort: 'created', cursor: first.nextCursor });
    expect(error).toMatchObject({ code: 'invalid_field', field: 'cursor' });
  });

  it('answers a thousand odd filters, with 200 or with the field at fault', async () => {
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

  it('goes page by page', async () => {
    const made = [await makeContact(scene), await makeContact(scene), await makeContact(scene)];
    for (const { contactUUID } of made) await update({ contactUUID, contactTagID: 'paged' });
    const found: string[] = [];
    let cursor = '';
    do {
      const page = await search({ contactTagID: 'paged', limit: 2, cursor });
      found.push(...page.contact.map(({ contactUUID }: { contactUUID: string }) => contactUUID));
      cursor = page.nextCursor;
    } while (cursor);
    expect(found.toSorted()).toEqual(made.map(({ contactUUID }) => contactUUID).toSorted());
  });
});

describe('exportContact and eraseContact', () => {
  it('give all, page by page, and then 410', async () => {
    const { userUUID, contactUUID, contactEmailaddress } = await makeContact(scene);
    const event = [1, 2, 3].map((eventID) => ({ eventID }));
    await scene.post('/event/logEvents', { tokenUUID: scene.tokens.browser, userUUID, event });
    await create({ userUUID, contactEmailaddress, contactLastname: 'L' }, 'browser');
    const take = (fields: Fields) =>
      scene.post('/contact/exportContact', { tokenUUID: scene.tokens.server, ...fields });
    const first = (await take({ contactUUID, limit: 2 })).body;
    expect(first).toMatchObject({
      contact: { contactUUID },
      link: [
        { userUUID, contactUUID, verified: true },
        { userUUID, contactUUID, verified: false },
      ],
      claim: [{ userUUID, contact: { contactLastname: 'L' } }],
    });
    const second = (await take({ contactEmailaddress, limit: 2, cursor: first.nextCursor })).body;
    expect([...first.event, ...second.event].map(({ eventID }) => eventID)).toEqual([1, 2, 3]);
    expect(second).toMatchObject({ claim: [], link: [], nextCursor: '' });

    const erase = await scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactEmailaddress });
    expect(erase.body).toMatchObject({ contactUUID, erasedTime: expect.stringMatching(/Z$/) });
    expect((await get({ contactUUID })).status).toBe(410);
    expect((await take({ contactUUID })).status).toBe(410);
  });

  it('export what was sent under the ID of a merged entry too, though no other read shows it', async () => {
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
    const take = async () => (await scene.post('/contact/exportContact', { ...token, contactUUID })).body;
    const before = await take();
    expect(before.event[0].eventAttrArray).toEqual(attributes);
    for (const [catalogue, entryID, otherEntryID] of [
      ['attr', 'size', 'Size'],
      ['tag', 'big', 'Big'],
    ])
      await scene.post('/account/mergeEntry', { ...token, catalogue, entryID, otherEntryID });
    expect((await get({ contactUUID })).body.contact.contactAttr).toEqual([attributes[1]]);
    expect(await take()).toEqual(before);
  });

  it('list every claim and link, page by page, and getContact does so with their number', async () => {
    const contactEmailaddress = 'claimed-by-many@example.com';
    const userUUIDs = Array.from({ length: 130 }, (_, nth) => `visitor-of-many-${nth}`);
    for (const userUUID of userUUIDs) await create({ userUUID, contactEmailaddress }, 'browser');
    await scene.post('/event/logEvent', { tokenUUID: scene.tokens.server, userUUID: userUUIDs[0], eventID: 1 });
    /** The users that each list names, as often as it does. */
    const readAll = async (take: (cursor: string) => Promise<Fields>) => {
      const lists: Record<'claim' | 'link' | 'event', string[]> = { claim: [], link: [], event: [] };
      let cursor = '';
      do {
        const body = await take(cursor);
        for (const [name, users] of Object.entries(lists)) {
          users.push(...((body[name] ?? []) as Fields[]).map(({ userUUID }) => userUUID as string));
        }
        cursor = body.nextCursor as string;
      } while (cursor);
      return lists;
    };
    const token = { tokenUUID: scene.tokens.server };
    let contactUUID = '';
    const exported = await readAll(async (cursor) => {
      const { body } = await scene.post('/contact/exportContact', { ...token, contactEmailaddress, cursor });
      contactUUID = body.contact.contactUUID;
      return body;
    });
    expect(exported).toEqual({ claim: userUUIDs, link: userUUIDs, event: [userUUIDs[0]] });
    const asked = { contactUUID, include: 'claim,link' };
    const told = await readAll(async (cursor) => (await get({ ...asked, ...(cursor && { cursor }) })).body);
    expect(told).toEqual({ ...exported, event: [] });
    const first = (await get(asked)).body;
    expect(first).toMatchObject({ claimCount: 130, linkCount: 130 });
    const without = await get({ contactUUID, cursor: first.nextCursor });
    expect(without.body).toMatchObject({ error: { code: 'invalid_field', field: 'cursor' } });
    expect((await get({ contactUUID })).body).not.toHaveProperty('nextCursor');
  });

  it('mark what is the contact’s by claims only, and leave that with verifiedOnly', async () => {
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
    const take = () => scene.post('/contact/exportContact', { tokenUUID: scene.tokens.server, contactUUID });
    const { event } = (await take()).body;
    expect(event.map(({ eventID, claimed }: Fields) => [eventID, claimed])).toEqual([
      [1, true],
      [2, undefined],
    ]);
    const erase = (verifiedOnly: unknown) =>
      scene.post('/contact/eraseContact', { tokenUUID: scene.tokens.server, contactUUID, verifiedOnly });
    expect((await erase('perhaps')).body).toMatchObject({ error: { code: 'invalid_field', field: 'verifiedOnly' } });
    expect((await erase(true)).status).toBe(200);
    expect((await take()).status).toBe(410);
    const left = await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID });
    expect(left.body.event).toMatchObject([{ eventID: 1, contactUUID: '' }]);
  });
});
