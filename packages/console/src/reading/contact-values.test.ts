import { expect, it } from 'vitest';
import { diffContactValues, revertChange, valuesOf } from './contact-values.ts';

const contact = {
  contactUUID: 'V1StGXR8_Z5jdHi6B-myT',
  contactExternalID: '',
  contactTitle: '',
  contactFirstname: 'Ann',
  contactLastname: 'Lemon',
  contactEmailaddress: 'ann@shop.example',
  contactTelephone: '123',
  contactMobile: '',
  contactJobRole: '',
  contactProfileID: 'customer',
  contactProfileName: 'Customer',
  contactStatus: 'active',
  tag: [
    { tagID: 'vip', tagName: 'VIP', opt: true },
    { tagID: 'beta', tagName: 'Beta', opt: false },
  ],
  contactAttr: [{ attrID: 'plan', attrValue: 'pro' }],
  createdTime: '2026-11-01T09:30:00.000Z',
  updatedTime: '2026-11-01T09:30:00.000Z',
  claimed: [],
};
const before = valuesOf(contact);

it('returns undefined if nothing differs', () => {
  expect(diffContactValues(before, { ...before, 'tag:beta': '' })).toBeUndefined();
});

it('returns only values that differ, with null for cleared values', () => {
  const after = { ...before, contactFirstname: 'Anne', contactTelephone: '', 'tag:vip': '', 'tag:beta': 'yes' };
  expect(diffContactValues(before, { ...after, 'attr:plan': '', 'attr:age': '9' })).toEqual({
    contactFirstname: 'Anne',
    contactTelephone: null,
    contactTagID: '-vip,beta',
    contactAttr: [
      { attrID: 'plan', attrValue: null },
      { attrID: 'age', attrValue: '9' },
    ],
  });
});

it('restores the earlier values, and skips those that have changed again since', () => {
  const after = { ...before, contactFirstname: 'Anne', contactLastname: 'Lime', 'tag:beta': 'yes' };
  const now = { ...after, contactLastname: 'Orange', contactMobile: '456' };
  expect(diffContactValues(now, revertChange(before, after, now))).toEqual({
    contactFirstname: 'Ann',
    contactTagID: '-beta',
  });
});
