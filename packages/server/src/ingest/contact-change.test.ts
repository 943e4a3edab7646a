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

describe('contactValues', () => {
  it('returns nonempty fields without the address', () => {
    expect(contactValues({ ...created, contactFirstname: 'Ada', contactTitle: '' })).toEqual({
      fields: { contactFirstname: 'Ada', contactProfileID: 'customer' },
      tags: [],
      attributes: [],
    });
  });

  it('returns tags without duplicates, and attributes in order', () => {
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

describe('contactChanges', () => {
  const change = (fields: object) => contactChanges(fields as Parameters<typeof contactChanges>[0]);

  it('returns the sent fields, including null', () => {
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
  ])('returns the added and removed tags: "%s"', (contactTagID, addedTags, removedTags) => {
    expect(change({ contactTagID })).toMatchObject({ addedTags, removedTags });
  });
});
