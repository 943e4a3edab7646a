import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mmdb } from '../../test/fixtures/mmdb.ts';
import { BadConfiguration } from '../config/config.ts';
import { openCountries } from './countries.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-countries-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (content: string | Buffer): string => {
  const path = join(folder, 'countries.mmdb');
  writeFileSync(path, content);
  return path;
};

const eight = '00001000';
const germany = { country_code: 'DE' };

describe('openCountries', () => {
  it.each([
    ['of ip-location-db', germany],
    ['used by MaxMind and DB-IP', { country: { iso_code: 'DE', names: { en: 'Germany' } } }],
  ])('reads a database in the format %s', (_, record) => {
    const countryOf = openCountries(fileOf(mmdb({ [eight]: record })));
    expect(countryOf('8.8.8.8')).toBe('DE');
    for (const unknown of ['9.9.9.9', '127.0.0.1', '', 'x', '8.8.8', '8.8.8.8:80']) {
      expect(countryOf(unknown)).toBeUndefined();
    }
  });

  it('looks up IPv6 addresses, except in an IPv4 database', () => {
    const networks = { ['0'.repeat(96) + eight]: germany, '00100000': { country_code: 'FR' } };
    const both = openCountries(fileOf(mmdb(networks, 6)));
    expect([both('8.8.8.8'), both('2000::1'), both('::1')]).toEqual(['DE', 'FR', undefined]);
    const four = openCountries(fileOf(mmdb({ [eight]: germany, '00100000': { country_code: 'FR' } })));
    expect([four('8.8.8.8'), four('2000::1')]).toEqual(['DE', undefined]);
  });

  it.each(['de', 'Germany', '', 'D1', 7])('ignores the invalid country code %j', (code) => {
    const countryOf = openCountries(fileOf(mmdb({ [eight]: { country_code: code }, '00001001': germany })));
    expect([countryOf('8.8.8.8'), countryOf('9.9.9.9')]).toEqual([undefined, 'DE']);
  });

  it('returns undefined for a damaged record', () => {
    const bytes = mmdb({ [eight]: germany, '00001001': germany });
    bytes.fill(0xff, bytes.indexOf('DE') - 14, bytes.indexOf('DE'));
    const countryOf = openCountries(fileOf(bytes));
    expect([countryOf('8.8.8.8'), countryOf('9.9.9.9')]).toEqual([undefined, 'DE']);
  });
});

describe('openCountries throws a BadConfiguration that names GEO_FILE if the file', () => {
  it.each([
    ['does not exist', () => join(folder, 'none.mmdb'), /ENOENT/],
    ['is empty', () => fileOf(''), /MMDB file/],
    ['is another kind of file', () => fileOf('x'.repeat(10_000)), /MMDB file/],
    ['is truncated', () => fileOf(mmdb({ [eight]: germany }).subarray(0, 60)), /MMDB file/],
    ['contains no countries', () => fileOf(mmdb({ [eight]: { autonomous_system_number: 1 } })), /has none for IPv4/],
  ])('%s', (_, path, message) => {
    expect(() => openCountries(path())).toThrow(BadConfiguration);
    expect(() => openCountries(path())).toThrow(/^GEO_FILE \(or --geo-file\) must be an MMDB file/);
    expect(() => openCountries(path())).toThrow(message);
  });
});
