import { describe, expect, it } from 'vitest';
import { toSource } from '../files/source.fixture.ts';
import { type ContactTarget, mapColumns } from './columns.ts';
import { type ContactBatch, checkContacts, importContacts, type RefusedRow } from './import-contacts.ts';
import { readContacts } from './read-contacts.ts';

const mapping = (...header: string[]) => Object.fromEntries(mapColumns(header));

const read = async (content: string | Uint8Array) => {
  const readings: object[] = [];
  for await (const { file: _, row: __, ...reading } of readContacts(toSource(content))) readings.push(reading);
  return readings;
};
const readOne = async (content: string) => (await read(content))[0];

describe('mapColumns', () => {
  it('recognizes Mautic’s columns', () => {
    expect(
      mapping('title', 'firstname', 'lastname', 'email', 'phone', 'position', 'tags', 'doNotEmail', 'points'),
    ).toEqual({
      title: 'contactTitle',
      firstname: 'contactFirstname',
      lastname: 'contactLastname',
      email: 'contactEmailaddress',
      phone: 'contactTelephone',
      position: 'contactJobRole',
      tags: 'contactTagID',
      doNotEmail: 'contactStatus',
    });
  });

  it('recognizes Klaviyo’s columns', () => {
    expect(mapping('Email', 'Klaviyo ID', 'First Name', 'Phone Number', 'Title', 'Email Marketing Consent')).toEqual({
      Email: 'contactEmailaddress',
      'First Name': 'contactFirstname',
      'Phone Number': 'contactTelephone',
      Title: 'contactJobRole',
      'Email Marketing Consent': 'contactStatus',
    });
  });

  it('recognizes HubSpot’s columns', () => {
    expect(
      mapping('Record ID', 'First Name', 'Email', 'Job Title', 'Mobile Phone Number', 'Unsubscribed from all email'),
    ).toEqual({
      'First Name': 'contactFirstname',
      Email: 'contactEmailaddress',
      'Job Title': 'contactJobRole',
      'Mobile Phone Number': 'contactMobile',
      'Unsubscribed from all email': 'contactStatus',
    });
  });

  it('recognizes Mailchimp’s columns, except those with IP addresses', () => {
    expect(mapping('Email Address', 'First Name', 'OPTIN_TIME', 'OPTIN_IP', 'LEID', 'TAGS', 'UNSUB_TIME')).toEqual({
      'Email Address': 'contactEmailaddress',
      'First Name': 'contactFirstname',
      TAGS: 'contactTagID',
      UNSUB_TIME: 'contactStatus',
    });
  });

  it('recognizes the columns of Firsthand’s own export, and other spellings of names', () => {
    expect(
      mapping('contactUUID', 'contactEmailaddress', 'tag', 'contactAttr.plan', 'FIRST_NAME', 'createdTime'),
    ).toEqual({
      contactEmailaddress: 'contactEmailaddress',
      tag: 'contactTagID',
      'contactAttr.plan': 'contactAttr.plan',
      FIRST_NAME: 'contactFirstname',
    });
  });

  it('recognizes the usual names in spreadsheets', () => {
    expect(mapping('E-mail', 'Forename', 'Surname', 'Phone', 'Mobile', 'Town')).toEqual({
      'E-mail': 'contactEmailaddress',
      Forename: 'contactFirstname',
      Surname: 'contactLastname',
      Phone: 'contactTelephone',
      Mobile: 'contactMobile',
    });
    expect(mapping('Last name', 'Telephone', 'Cell phone')).toEqual({
      'Last name': 'contactLastname',
      Telephone: 'contactTelephone',
      'Cell phone': 'contactMobile',
    });
  });

  it('imports the first of two columns with the same content, unless the other one is chosen', () => {
    expect(mapping('email', 'Email')).toEqual({ email: 'contactEmailaddress' });
    const chosen = new Map([
      ['Email', 'contactEmailaddress' as const],
      ['firstname', undefined],
      ['Size', 'contactAttr.size' as const],
    ]);
    expect(Object.fromEntries(mapColumns(['email', 'Email', 'firstname', 'Size', '__proto__'], chosen))).toEqual({
      Email: 'contactEmailaddress',
      Size: 'contactAttr.size',
    });
  });
});

describe('readContacts', () => {
  it('reads each tool’s status and tags', async () => {
    expect(
      await read(
        [
          'email,doNotEmail,tags',
          'a@shop.example,on,vip|beta',
          'b@shop.example,0,"""VIP"",""Blog"""',
          'c@shop.example,UNSUBSCRIBED,vip; beta',
          'd@shop.example,2026-01-02 03:04:05,',
          'e@shop.example,SUBSCRIBED,',
          'f@shop.example,oui,',
        ].join('\n'),
      ),
    ).toEqual([
      {
        line: 2,
        contact: { contactEmailaddress: 'a@shop.example', contactStatus: 'unsubscribed', contactTagID: 'vip,beta' },
      },
      { line: 3, contact: { contactEmailaddress: 'b@shop.example', contactTagID: 'VIP,Blog' } },
      {
        line: 4,
        contact: { contactEmailaddress: 'c@shop.example', contactStatus: 'unsubscribed', contactTagID: 'vip,beta' },
      },
      { line: 5, contact: { contactEmailaddress: 'd@shop.example', contactStatus: 'unsubscribed' } },
      { line: 6, contact: { contactEmailaddress: 'e@shop.example' } },
      { line: 7, column: 'doNotEmail', problem: expect.stringContaining('must be active, archived, unsubscribed') },
    ]);
  });

  it.each([
    ['a byte order mark', '\ufeffemail,firstname\nann@shop.example,Ann\n'],
    ['semicolons', 'email;firstname\r\nann@shop.example;Ann\r\n'],
    ['tabs', 'email\tfirstname\nann@shop.example\tAnn\n'],
  ])('reads a file with %s', async (_, content) => {
    expect(await readOne(content)).toEqual({
      line: 2,
      contact: { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann' },
    });
  });

  it('removes the apostrophe that an export puts before a formula', async () => {
    expect(await readOne("email,firstname\nann@shop.example,'=1+1\n")).toMatchObject({
      contact: { contactFirstname: '=1+1' },
    });
  });

  it('rejects a file that is not UTF-8, has no e-mail addresses or is not CSV', async () => {
    const latin1 = Uint8Array.from(Buffer.from('email,firstname\nann@shop.example,Zoë\n', 'latin1'));
    await expect(read(latin1)).rejects.toThrow(
      'line 2: the text is not UTF-8: save the file as UTF-8 (in Excel: CSV UTF-8)',
    );
    await expect(read('name,phone\nAnn,1\n')).rejects.toThrow('no column is recognized as the e-mail address');
    await expect(read('{"email":"ann@shop.example"}\n')).rejects.toThrow('the file must be CSV');
    await expect(read('')).rejects.toThrow('the file is empty');
  });

  it('rejects a file with two columns of the same name, or with two columns that are imported as the same field', async () => {
    await expect(read('email,city,firstname,city\n')).rejects.toThrow(
      'the file has two columns `city`: rename or remove one of them',
    );
    const chosen = new Map([
      ['nickname', 'contactFirstname' as const],
      ['name', 'contactFirstname' as const],
    ]);
    const readings = readContacts(toSource('email,name,nickname\n'), chosen);
    await expect(readings.next()).rejects.toThrow(
      '`name` and `nickname` are both imported as `contactFirstname`: choose one of them',
    );
    expect(await read('email,,\nann@shop.example,,\n')).toEqual([
      { line: 2, contact: { contactEmailaddress: 'ann@shop.example' } },
    ]);
  });

  it('refuses a row without an e-mail address, and a row with a different number of cells', async () => {
    expect(await read('email,firstname\n,Ann\nann@shop.example\n')).toEqual([
      { line: 2, problem: 'the row has neither an e-mail address nor your own ID' },
      { line: 3, problem: 'the row has 1 cell, but the header has 2' },
    ]);
  });

  it('refuses a cell of 10 MB, and reads the next row', async () => {
    const [first, second] = await read(
      `email,firstname\nann@shop.example,${'x'.repeat(10_000_000)}\nben@shop.example,Ben\n`,
    );
    expect(first).toMatchObject({ line: 2, problem: expect.stringContaining('longer than') });
    expect(second).toMatchObject({ line: 3, contact: { contactFirstname: 'Ben' } });
  });
});

describe('checkContacts', () => {
  const check = (content: string, columns?: ReadonlyMap<string, ContactTarget | undefined>, profile?: string) =>
    checkContacts({ open: () => toSource(content), ...(columns && { columns }) }, profile);
  const content = 'email,city\nann@shop.example,London\n,Paris\n';

  it('counts the contacts, and returns the same settings for recognized and chosen columns', async () => {
    const recognized = await check(content);
    expect(recognized.contacts).toBe(1);
    const chosen = new Map([
      ['city', undefined],
      ['email', 'contactEmailaddress' as const],
    ]);
    expect(await check(content, chosen)).toEqual(recognized);
  });

  it('returns different settings for different columns or a different profile', async () => {
    const { settings } = await check(content);
    expect(await check(content, new Map([['city', 'contactAttr.city']]))).not.toMatchObject({ settings });
    expect(await check(content, undefined, 'customer')).not.toMatchObject({ settings });
  });
});

describe('importContacts', () => {
  const send = async (content: string, position: number) => {
    const batches: ContactBatch[] = [];
    const refused: RefusedRow[] = [];
    const counts = await importContacts({
      open: () => toSource(content),
      position,
      send: async (batch) => {
        batches.push(batch);
        const field = 'contact[0].contactFirstname';
        const refusal =
          batches.length === 1 ? [{ index: 0, error: { message: '`contactFirstname` is too long', field } }] : [];
        const created = batch.contact.length - refusal.length;
        const next = batch.position + batch.contact.length;
        return { position: next, created, changed: 0, unchanged: 0, refused: refusal.length, refusal };
      },
      onRefused: (row) => void refused.push(row),
    });
    return { batches, refused, counts };
  };
  const rows = Array.from({ length: 1_200 }, (_, nth) => `user-${nth}@shop.example,${'n'.repeat(nth % 3)}`);
  const content = ['email,firstname', ...rows, ',nobody'].join('\n');

  it('sends bounded batches, and returns refused rows with their line and column', async () => {
    const { batches, refused, counts } = await send(content, 0);
    expect(batches.map(({ position, contact, isLast }) => [position, contact.length, isLast])).toEqual(
      Array.from({ length: 12 }, (_, nth) => [nth * 100, 100, nth === 11]),
    );
    expect(counts).toEqual({ created: 1_199, changed: 0, unchanged: 0, refused: 2, unreadable: 1 });
    expect(refused).toEqual([
      { line: 2, column: 'firstname', reason: 'is too long', row: { email: 'user-0@shop.example', firstname: '' } },
      { line: 1_202, column: '', reason: expect.stringContaining('neither'), row: { email: '', firstname: 'nobody' } },
    ]);
  });

  it('continues after the contacts that have already been sent', async () => {
    const { batches } = await send(content, 1_100);
    expect(batches.map(({ position, contact }) => [position, contact[0]])).toEqual([
      [1_100, { contactEmailaddress: 'user-1100@shop.example', contactFirstname: 'nn' }],
    ]);
  });

  it('splits batches of large contacts, and refuses a row that is too large for a batch', async () => {
    const large = (length: number) => `"${'x'.repeat(length)}"`;
    const { batches, refused } = await send(
      [
        'email,firstname',
        ...[150_000, 100_000, 300_000].map((length, nth) => `u${nth}@shop.example,${large(length)}`),
      ].join('\n'),
      0,
    );
    expect(batches.map(({ contact }) => contact.length)).toEqual([1, 1]);
    expect(refused.at(-1)).toMatchObject({ line: 4, reason: 'the row is longer than 200000 characters' });
  });
});
