import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { BadConfiguration } from '../src/config/config.ts';
import { temporaryFolder } from './fixtures/command.ts';
import { mmdb } from './fixtures/mmdb.ts';
import { createAccount, serveHere, userUUID } from './fixtures/serving.ts';

const countries = (): string => {
  const path = join(temporaryFolder(), 'countries.mmdb');
  writeFileSync(path, mmdb({ '00001000': { country_code: 'US' } }));
  return path;
};

const headers = {
  'Content-Type': 'application/json',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Sec-CH-UA-Platform': '"Chrome OS"',
  'X-Forwarded-For': '8.8.4.4',
  'CF-IPCountry': 'NZ',
};

/**
 * Returns the attributes of an event that a visitor at 8.8.4.4 sends through a trusted proxy to a server with the
 * variables in `env`.
 */
const attributesWith = async (env: Readonly<Record<string, string>>) => {
  const { url } = await serveHere({ TRUST_PROXY: '127.0.0.1', ...env });
  const { browserTokenUUID: tokenUUID, serverTokenUUID } = await createAccount(url);
  const body = JSON.stringify({ tokenUUID, userUUID, eventID: 1 });
  expect((await fetch(`${url}/logEvent`, { method: 'POST', headers, body })).status).toBe(200);
  const { event } = await createClient({ url, token: serverTokenUUID }).getEvent({ userUUID });
  return event[0]?.eventAttrArray.map(({ attrID, attrValue }) => `${attrID}=${attrValue}`);
};

const withoutCountry = ['$browser=Firefox', '$os=Chrome OS', '$device=desktop'];

it('labels events with the country from GEO_FILE if GEO=country', async () => {
  expect(await attributesWith({ GEO: 'country', GEO_FILE: countries() })).toEqual([...withoutCountry, '$country=US']);
});

it('labels events with the country that a CDN sends in GEO_HEADER', async () => {
  expect(await attributesWith({ GEO: 'country', GEO_HEADER: 'CF-IPCountry' })).toEqual([
    ...withoutCountry,
    '$country=NZ',
  ]);
});

it('labels no event with a country if GEO=off, regardless of other settings', async () => {
  const env = { GEO: 'off', GEO_FILE: '/nowhere.mmdb', GEO_HEADER: 'CF-IPCountry' };
  expect(await attributesWith(env)).toEqual(withoutCountry);
});

it('refuses to start with an unusable GEO_FILE', async () => {
  const starting = serveHere({ GEO: 'country', GEO_FILE: '/nowhere.mmdb' });
  await expect(starting).rejects.toThrow(BadConfiguration);
  await expect(starting).rejects.toThrow(/^GEO_FILE .*\/nowhere\.mmdb.*ENOENT/);
});
