import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAddress, newUserUUID } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const create = (contact: unknown, fields: Fields = {}) =>
  scene.post('/contact/createContacts', { tokenUUID: scene.tokens.server, contact, ...fields });
const get = async (contactUUID: string) =>
  (await scene.get('/contact/getContact', { tokenUUID: scene.tokens.server, contactUUID, include: 'link' })).body;
const customer = (fields: Fields = {}) => ({
  contactEmailaddress: newAddress(),
  contactProfileID: 'customer',
  ...fields,
});

describe('createContacts', () => {
  it('creates and finds contacts, with or without a user to link', async () => {
    const [existing, userUUID] = [customer({ contactFirstname: 'Ann' }), newUserUUID()];
    const { body: first } = await create([existing]);
    const { body } = await create([
      customer({ userUUID }),
      { ...existing, contactFirstname: 'Anna', contactTagID: 'vip' },
      customer({ contactAttr: [{ attrID: 'size', attrValue: 'XL' }] }),
    ]);
    expect(body).toEqual({
      contact: [false, true, false].map((exists) => ({ status: '200', exists, contactUUID: expect.any(String) })),
      status: '200',
    });
    expect(body.contact[1].contactUUID).toBe(first.contact[0].contactUUID);
    const [linked, found, bare] = await Promise.all(
      body.contact.map(({ contactUUID }: { contactUUID: string }) => get(contactUUID)),
    );
    expect(linked.link).toMatchObject([{ userUUID, verified: true }]);
    expect(found).toMatchObject({ contact: { contactFirstname: 'Anna' }, link: [] });
    expect(bare).toMatchObject({ contact: { contactAttr: [{ attrID: 'size', attrValue: 'XL' }] }, link: [] });
  });

  it('returns a result for each contact in order, and rejects each one separately', async () => {
    const { body } = await create([
      customer({ contactEmailaddress: 'ada' }),
      customer(),
      'a contact',
      customer({ contactProfileID: '' }),
      customer({ userUUID: 'undefined' }),
      customer(),
    ]);
    expect(body.contact.map(({ status }: Fields) => status)).toEqual(['400', '200', '400', '400', '400', '200']);
    expect(body.contact.flatMap(({ error }: { error?: Fields }) => (error ? [[error.code, error.field]] : []))).toEqual(
      [
        ['invalid_field', 'contact[0].contactEmailaddress'],
        ['invalid_field', 'contact[2]'],
        ['missing_field', 'contact[3].contactProfileID'],
        ['invalid_field', 'contact[4].userUUID'],
      ],
    );
  });

  it('rejects unknown fields by name', async () => {
    const { body } = await create([customer({ contactFirstName: 'Ann' })]);
    const ignored = ['contact[0].contactFirstName (did you mean contactFirstname?)'];
    expect(body).toMatchObject({ contact: [{ status: '200' }], ignored });
  });

  it('applies every entry with the same address in the given order', async () => {
    const contactEmailaddress = newAddress();
    const userUUID = newUserUUID();
    const { body } = await create([
      customer({ contactEmailaddress, contactFirstname: 'first', userUUID }),
      customer({ userUUID }),
      customer({ contactEmailaddress: contactEmailaddress.toUpperCase(), contactFirstname: 'second' }),
      customer({ contactEmailaddress, contactFirstname: 'third', userUUID }),
    ]);
    const [first, other, second, third] = body.contact;
    expect([second.contactUUID, third.contactUUID]).toEqual([first.contactUUID, first.contactUUID]);
    expect([first, other, second, third].map(({ exists }) => exists)).toEqual([false, false, true, true]);
    const { contact, link } = await get(first.contactUUID);
    expect(contact.contactFirstname).toBe('third');
    expect(link).toHaveLength(2);
  });

  it(`accepts ${limits.contactsPerBatch} contacts, and not one more`, async () => {
    const contacts = Array.from({ length: limits.contactsPerBatch }, () => customer());
    const { body } = await create(contacts);
    expect(new Set(body.contact.map(({ contactUUID }: Fields) => contactUUID)).size).toBe(limits.contactsPerBatch);
    const { status, body: refused } = await create([...contacts, customer()]);
    expect([status, refused.error]).toMatchObject([400, { code: 'invalid_field', field: 'contact' }]);
  });

  it.each([
    ['a missing list', undefined, 'missing_field'],
    ['an empty list', [], 'invalid_field'],
    ['one object', customer(), 'invalid_field'],
  ])('rejects %s with 400', async (_, contact, code) => {
    expect((await create(contact)).body).toMatchObject({ status: '400', error: { code, field: 'contact' } });
  });

  it('returns the path of an unlisted ID in a strict account', async () => {
    const strict = await openScene();
    try {
      const { tokens } = strict;
      await strict.post('/account/updateAccount', { tokenUUID: tokens.server, strict: true });
      const { body } = await strict.post('/contact/createContacts', {
        tokenUUID: tokens.server,
        contact: [customer({ contactProfileID: 'nobody-listed-this' })],
      });
      expect(body.contact).toMatchObject([
        { status: '400', error: { code: 'unknown_id', field: 'contact[0].contactProfileID' } },
      ]);
    } finally {
      await strict.close();
    }
  });

  it('accepts only server tokens', async () => {
    for (const kind of ['browser', 'viewer'] as const) {
      const { body } = await create([customer()], { tokenUUID: scene.tokens[kind] });
      expect(body).toMatchObject({ status: '403', error: { code: 'token_kind' } });
    }
  });
});
