import { operations } from '@firsthand/contract/operations';
import { expect, test } from 'vitest';
import { refusableOperations } from '../../store.ts';
import { createPersonSearch, type PersonNames, personNames } from './names.ts';
import { fieldNames } from './searched-text.ts';

/** Returns a function that checks whether a request or its message identifies a person. */
const searchFor = (names: Partial<PersonNames>) => {
  const { add, isNamedIn } = createPersonSearch();
  add(personNames(names));
  return (input: unknown, message = '') => isNamedIn({ input: JSON.stringify(input), message, address: null });
};

test('matches many userUUIDs as whole words only', () => {
  const isNamed = searchFor({ userUUIDs: Array.from({ length: 30 }, (_, nth) => `browser-${nth}`) });
  expect(isNamed({})).toBe(false);
  expect(isNamed({ userUUID: 'browser-7' })).toBe(true);
  expect(isNamed({ userUUID: 'browser-77' })).toBe(false);
  expect(isNamed('{"userUUID":"browser-7')).toBe(true);
  expect(isNamed('{"userUUID":"browser-77')).toBe(false);
});

test('finds an external ID as the value of its field, and a long external ID anywhere', () => {
  const isNamed = searchFor({ externalIDs: ['7', 'Kunde "Ö"', 'customer-1042'] });
  expect([
    isNamed({ contactExternalID: '7' }),
    isNamed({ contactExternalID: 7 }),
    isNamed({ event: [{}, { contactExternalID: ' 7 ' }] }),
    isNamed({ contactExternalID: 'Kunde "O\u0308"' }),
    isNamed({ note: 'of customer-1042 ' }),
    isNamed('tokenUUID=&contactExternalID=7&eventID=1'),
    isNamed('{"contactExternalID": "7", '),
  ]).toEqual([true, true, true, true, true, true, true]);
  expect([
    isNamed({ contactExternalID: '77' }),
    isNamed({ eventID: 7, note: '7' }),
    isNamed({ contactExternalID: 'a', contactFirstname: '7' }),
    isNamed('contactExternalID=77&eventID=7'),
  ]).toEqual([false, false, false, false]);
});

test('never treats a field name as a person’s name', () => {
  const names = refusableOperations.flatMap((name) =>
    Object.keys((operations[name].input as { shape?: object }).shape ?? {}),
  );
  expect(names).toEqual(expect.arrayContaining(['eventAttrArray', 'event', 'contactProof', 'contactStatus']));
  expect(names.filter((name) => name !== 'tokenUUID' && !fieldNames.has(name))).toEqual([]);
  const ofPage = searchFor({ claimedIDs: [...fieldNames], userUUIDs: [...fieldNames] });
  const ofServer = searchFor({ externalIDs: [...fieldNames] });
  const fields = { userUUID: 'visitor-0123456789', contactEmailaddress: 'ann@', event: [{ eventID: 0 }] };
  for (const isNamed of [ofPage, ofServer]) {
    expect(isNamed(fields, '`contactEmailaddress` must be an e-mail address')).toBe(false);
    expect(isNamed(`${JSON.stringify(fields)},`, '`userUUID` is missing')).toBe(false);
  }
});

test('searches only identifying fields for a name that a page chose', () => {
  const name = 'newsletter-signup';
  const isNamed = searchFor({ claimedIDs: [name], userUUIDs: [name] });
  for (const field of ['contactProfileID', 'contactTagID', 'eventName', 'attrID', 'attrValue']) {
    expect(isNamed({ [field]: name, url: `https://shop.example/${name}` }), field).toBe(false);
  }
  expect(searchFor({ claimedIDs: [name] })({ page: name })).toBe(false);
  for (const field of ['contactExternalID', 'otherContactExternalID', 'userUUID', 'contact_external_id', 'userId']) {
    expect(isNamed({ event: [{ [field]: [{ is: name }] }] }), field).toBe(true);
  }
  for (const field of ['contactExternalID', 'contact-external-id', 'userUUID', 'user_uuid']) {
    expect(isNamed({ url: `https://shop.example/?${field}=${name}` }), field).toBe(true);
  }
});

test('ignores a name that is part of a longer name', () => {
  const isNamed = searchFor({ addresses: ['anna@shop.example'], externalIDs: ['kunde-10', 'CD12'] });
  const others = ['joanna@shop.example', 'jo.anna@shop.example', 'jo+anna@shop.example', 'anna@shop.example.org'];
  for (const note of [...others, 'anna@shop.example-x.com', 'kunde-10042', 'Kunde-10', 'großkunde-10', 'kunde-10-b']) {
    expect(isNamed({ note, contactExternalID: note }), note).toBe(false);
    expect(isNamed(`{"note":"${note}","contactExternalID":"${note}"`), note).toBe(false);
  }
  for (const contactExternalID of ['cd12', 'CD123']) {
    expect(isNamed({ contactExternalID })).toBe(false);
    expect(isNamed(`contactExternalID=${contactExternalID}&`)).toBe(false);
  }
  const same = [
    'Write to anna@shop.example.',
    '<ANNA@shop.example>',
    '顧客anna@shop.exampleの注文',
    'is kunde-10, too',
  ];
  for (const note of [...same, 'joanna@shop.example, anna@shop.example', '/?a=%20anna%40shop.example%20']) {
    expect(isNamed({ note }), note).toBe(true);
    expect(isNamed({ form: [{ [`{"note":"${note}"}`]: '' }] }), note).toBe(true);
    expect(isNamed(`{"note":"${note}"`), note).toBe(true);
  }
});

test('finds a short external ID in any notation', () => {
  const isNamed = searchFor({ externalIDs: ['q v9', '48152', 'x"y,1'] });
  for (const value of [48152, '48152', [48152], { id: '48152' }, [[{ id: ' 48152 ' }]], 'q v9', 'x"y,1']) {
    expect(isNamed({ contactExternalID: value }), JSON.stringify(value)).toBe(true);
  }
  for (const text of [
    '{"contactExternalID":48152,',
    '{"contactExternalID":"x\\"y,1",',
    'contactExternalID=q+v9&x=%ff%fe',
    'contactExternalID=q%20v9&x=%ff%fe',
    'contactExternalID=x"y,1&x=%ff%fe',
    `{'contactExternalID':'q v9'}`,
    `{'contactExternalID': 'q v9`,
    '{"contactExternalID": "q v9',
    '{contactExternalID: q v9}',
    '{"contactExternalID":[48152]',
    '{\\"contactExternalID\\":\\"q\\u0020v9\\"}',
    '--b\r\nContent-Disposition: form-data; name="contactExternalID"\r\n\r\nq v9\r\n--b',
    '{"contactExternalID":7,"otherContactExternalID":48152,}',
  ]) {
    expect(isNamed(text), text).toBe(true);
    expect(isNamed({ [text]: '' }), text).toBe(true);
  }
  for (const text of ['contactExternalID=q+v99&x=%ff%fe', `{'contactExternalID':'q'} v9`, 'q v9', 'x=48152']) {
    expect(isNamed(text), text).toBe(false);
  }
});
