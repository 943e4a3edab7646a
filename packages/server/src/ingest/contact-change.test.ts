import { describe, expect, it } from 'vitest';
import { contactChanges, contactValues } from './contact-change.ts';

const created = {
  userUUID: 'user_aaaaaaaaaaaaaaaa',
  contactEmailaddress: 'ada@example.com',
  contactProfileID: 'customer',
  contactTitle: undefined,
  contactFirstname: undefined,
  contactLastname: undefined,
  contactTelephone: undefined,
  contactMobile: undefined,
  contactJobRole: undefined,
  contactTagID: undefined,
  contactAttr: undefined,
  requestUUID: undefined,
  contactProof: undefined,
};

describe('what createContact says of a contact', () => {
  it('is its filled fields; the address goes another way', () => {
    expect(contactValues({ ...created, contactFirstname: 'Ada', contactTitle: '' })).toEqual({
      fields: { contactFirstname: 'Ada', contactProfileID: 'customer' },
      tags: [],
      attributes: [],
    });
  });

  it('is its tags, each once, and its attributes in their order', () => {
    const contactAttr = [
      { attrID: 'b', attrValue: '1' },
      { attrID: '__proto__', attrValue: '' },
    ];
    expect(contactValues({ ...created, contactTagID: ' x , y,,x ', contactAttr })).toMatchObject({
      tags: ['x', 'y'],
      attributes: [
        ['b', '1'],
        ['__proto__', ''],
      ],
    });
  });
});

describe('what updateContact changes', () => {
  const change = (fields: object) => contactChanges(fields as Parameters<typeof contactChanges>[0]);

  it('is what is given, null included', () => {
    const fields = { contactTitle: null, contactMobile: '1', contactProfileID: undefined };
    expect(change({ ...fields, contactStatus: 'archived' })).toEqual({
      fields: { contactTitle: null, contactMobile: '1' },
      addedTags: [],
      removedTags: [],
      attributes: [],
      contactStatus: 'archived',
    });
  });

  it.each([
    ['a,b', ['a', 'b'], []],
    ['a, -b', ['a'], ['b']],
    ['a,-a', [], ['a']],
    ['-a,a', ['a'], []],
    [' , -,', [], []],
  ])('is the tags added and taken away: "%s"', (contactTagID, addedTags, removedTags) => {
    expect(change({ contactTagID })).toMatchObject({ addedTags, removedTags });
  });
});
