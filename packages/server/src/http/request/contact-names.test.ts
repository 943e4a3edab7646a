/** Tests requests that identify a contact by the customer's own ID. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProof, toProofKey } from '../../../test/fixtures/proof.ts';
import { newAddress, newUserUUID } from '../../../test/fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../../test/fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const post = (path: string, fields: Fields, kind: 'browser' | 'server' = 'server') =>
  scene.post(path, { tokenUUID: scene.tokens[kind], ...fields });
const create = (fields: Fields, kind: 'browser' | 'server' = 'server') =>
  post('/contact/createContact', { contactProfileID: 'customer', ...fields }, kind);
const read = async (path: string, fields: Fields) =>
  (await scene.get(path, { tokenUUID: scene.tokens.server, ...fields })).body;

let customers = 0;
/** Creates a contact that has only an external ID. */
const newCustomer = async (fields: Fields = {}) => {
  customers += 1;
  const contactExternalID = `customer-${customers}`;
  const { body } = await create({ contactExternalID, ...fields });
  return { contactExternalID, contactUUID: body.contactUUID as string };
};

describe('a contactExternalID', () => {
  it('is trimmed, normalized to NFC, and compared case-sensitively', async () => {
    const { body } = await create({ contactExternalID: ' Zoe\u0308-7 ' });
    expect((await create({ contactExternalID: 'Zo\u00eb-7' })).body).toMatchObject({ ...body, exists: true });
    expect((await create({ contactExternalID: 'zo\u00eb-7' })).body.exists).toBe(false);
    const { contact } = await read('/contact/getContact', { contactExternalID: ' Zo\u00eb-7' });
    expect(contact).toMatchObject({ contactExternalID: 'Zo\u00eb-7', contactEmailaddress: '' });
  });

  it.each([
    ['of 255 characters', 'x'.repeat(255), 200],
    ['of one character', '7', 200],
    ['of digits', '100', 200],
    ['that is too long', 'x'.repeat(256), 400],
    ['with a line break', 'customer\n7', 400],
    ['with NUL', 'customer\u00007', 400],
    ['with a lone surrogate', 'customer-\ud800', 400],
    ['undefined', 'undefined', 400],
    ['null', 'NULL', 400],
    ['made from an object', '[object Object]', 400],
    ['of zeros', '000', 400],
    ['that is an object', { id: 7 }, 400],
  ])('%s is accepted, or refused with the name of the field', async (_, contactExternalID, expected) => {
    const { status, body } = await create({ contactExternalID });
    expect([status, body.error?.field]).toEqual([expected, expected === 200 ? undefined : 'contactExternalID']);
  });

  it.each([
    ['no key', { userUUID: newUserUUID() }, 'server', 'contactEmailaddress'],
    ['an address but no user', { contactEmailaddress: newAddress() }, 'server', 'userUUID'],
    ['an ID but no user, from a page', { contactExternalID: 'customer-of-a-page' }, 'browser', 'userUUID'],
  ] as const)('is missing in a createContact request with %s', async (_, fields, kind, field) => {
    const { status, body } = await create(fields, kind);
    expect([status, body.error.code, body.error.field]).toEqual([400, 'missing_field', field]);
  });

  it('identifies the contact in every operation that accepts it', async () => {
    const { contactUUID, contactExternalID } = await newCustomer();
    const other = await newCustomer();
    const userUUID = newUserUUID();
    expect((await post('/contact/updateContact', { contactExternalID, contactTitle: 'Dr' })).body).toMatchObject({
      contactUUID,
      updated: ['contactTitle'],
    });
    expect((await post('/event/logEvent', { contactExternalID, eventID: 1 })).status).toBe(200);
    const event = [
      { eventID: 2 },
      { eventID: 3, contactExternalID: other.contactExternalID },
      { eventID: 4, contactUUID },
    ];
    expect((await post('/event/logEvents', { contactExternalID, event })).body.event).toHaveLength(3);
    expect((await post('/contact/linkUser', { contactExternalID, userUUID })).status).toBe(200);
    const { event: logged } = await read('/event/getEvent', { contactExternalID, order: 'asc' });
    expect(logged.map(({ eventID }: Fields) => eventID)).toEqual([1, 2, 4]);
    expect((await read('/contact/searchContact', { contactExternalID })).contact).toMatchObject([{ contactUUID }]);
    const names = { contactExternalID, otherContactExternalID: other.contactExternalID };
    expect((await post('/contact/mergeContact', names)).body).toMatchObject({ contactUUID });
    const { body: exported } = await post('/contact/exportContact', { contactExternalID: other.contactExternalID });
    expect(exported.contact).toMatchObject({ contactUUID, contactExternalID });
    expect(exported.event).toHaveLength(4);
    expect((await post('/contact/unmergeContact', names)).body).toMatchObject({ contactUUID: other.contactUUID });
    const { body: account } = await post('/account/updateAccount', {
      contact: [{ contactExternalID, contactTitle: null }],
    });
    expect(account.contact).toMatchObject([{ exists: true, contactUUID }]);
    const batch = [{ contactExternalID, contactProfileID: 'customer' }, { contactProfileID: 'customer' }];
    expect((await post('/contact/createContacts', { contact: batch })).body.contact).toMatchObject([
      { exists: true, contactUUID },
      { error: { field: 'contact[1].contactEmailaddress' } },
    ]);
    expect((await post('/contact/eraseContact', { contactExternalID })).body).toMatchObject({ contactUUID });
    expect((await post('/contact/updateContact', { contactExternalID })).body.error).toMatchObject({
      code: 'unknown_contact',
      field: 'contactExternalID',
    });
    expect((await post('/event/logEvent', { contactExternalID, eventID: 1 })).body.error.code).toBe('unknown_contact');
  });

  it('is ignored if the request also has a contactUUID', async () => {
    const [one, two] = [await newCustomer(), await newCustomer()];
    const changed = await post('/contact/updateContact', { ...one, contactExternalID: two.contactExternalID });
    expect(changed.body.error).toMatchObject({ code: 'external_id_taken', field: 'contactExternalID' });
    const { contact } = await read('/contact/getContact', { ...one, contactExternalID: two.contactExternalID });
    expect(contact).toMatchObject(one);
    const cleared = await post('/contact/updateContact', { contactUUID: one.contactUUID, contactExternalID: null });
    expect(cleared.body.updated).toEqual(['contactExternalID']);
    expect((await create({ contactExternalID: one.contactExternalID })).body.exists).toBe(false);
  });

  it('is refused in the same way from a page, whether or not the contact exists', async () => {
    const { contactExternalID } = await newCustomer({ contactEmailaddress: newAddress() });
    for (const [path, fields] of [
      ['/event/logEvent', { eventID: 1 }],
      ['/event/logEvents', { event: [{ eventID: 1 }] }],
    ] as const) {
      const responses = await Promise.all(
        [contactExternalID, 'customer-of-nobody'].map((name) =>
          post(path, { ...fields, userUUID: 'a-curious-visitor', contactExternalID: name }, 'browser'),
        ),
      );
      for (const { status, body } of responses) {
        expect([status, body.error.code, body.error.field]).toEqual([403, 'token_kind', 'contactExternalID']);
      }
    }
    const entries = [
      { eventID: 1, contactExternalID },
      { eventID: 2, contactExternalID: 'customer-of-nobody' },
    ];
    const { body } = await post('/event/logEvents', { userUUID: 'a-curious-visitor', event: entries }, 'browser');
    expect(body.event.map(({ status }: Fields) => status)).toEqual(['403', '403']);
    for (const name of [contactExternalID, 'customer-of-nobody']) {
      const response = await scene.get('/contact/getContact', {
        tokenUUID: scene.tokens.browser,
        contactExternalID: name,
      });
      expect([response.status, response.body.error.field]).toEqual([403, 'contactExternalID']);
    }
  });
});

describe('a contactProof for a contactExternalID', () => {
  const seconds = () => Math.floor(Date.now() / 1_000);
  const proofOf = (statement: { address?: string; externalID?: string; userUUID: string }) =>
    createProof({ browserToken: scene.tokens.browser, ...statement }, toProofKey(scene.tokens.server), seconds());

  it('verifies the ID and the link', async () => {
    const [userUUID, contactExternalID] = [newUserUUID(), 'customer-proven'];
    const contactProof = proofOf({ externalID: contactExternalID, userUUID });
    const fields = { userUUID, contactExternalID: ` ${contactExternalID}`, contactProof };
    expect((await create(fields, 'browser')).status).toBe(200);
    const { contact, link } = await read('/contact/getContact', { contactExternalID, include: 'link' });
    expect([contact.claimed, link.map(({ verified }: Fields) => verified)]).toEqual([['contactProfileID'], [true]]);
  });

  it('does not prove an address, or vice versa, and hides the claimed ID next to an address', async () => {
    const [userUUID, text] = [newUserUUID(), newAddress()];
    const ofID = proofOf({ externalID: text, userUUID });
    const ofAddress = proofOf({ address: text, userUUID });
    for (const fields of [
      { contactEmailaddress: text, contactProof: ofID },
      { contactExternalID: text, contactProof: ofAddress },
      { contactEmailaddress: text, contactExternalID: text, contactProof: ofID },
    ]) {
      const { status, body } = await create({ userUUID, ...fields }, 'browser');
      expect([status, body.error?.field]).toEqual([400, 'contactProof']);
    }
    const both = { contactEmailaddress: text, contactExternalID: 'customer-said', contactProof: ofAddress };
    expect((await create({ userUUID, ...both }, 'browser')).status).toBe(200);
    const { contact } = await read('/contact/getContact', { contactEmailaddress: text });
    expect(contact).toMatchObject({ contactExternalID: '', contactEmailaddress: text });
    expect(contact.claimed).toEqual(['contactProfileID']);
  });
});
