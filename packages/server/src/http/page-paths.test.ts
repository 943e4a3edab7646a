/** Tests the paths to which pages send requests: the root, the script's folder and API_PREFIX. */
import { pageNames } from '@firsthand/contract/identifiers';
import { operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAddress, newUserUUID } from '../../test/fixtures/requests.ts';
import { openScene, type Scene } from '../../test/fixtures/scene.ts';

const names = Object.keys(pageNames) as (keyof typeof pageNames)[];

it('names exactly the operations that are open to pages', () => {
  const open = Object.entries(operations).filter(([, operation]) => 'openToPages' in operation);
  expect(names.toSorted()).toEqual(open.map(([name]) => name).toSorted());
});

const paths = { trackerPath: '/assets/shop.js', apiPrefix: '/shop-data/' };
const folders = ['/tea/', '/tea/assets/', '/tea/shop-data/'];

describe.each(folders)('under %s', (folder) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ basePath: '/tea/', paths });
  });
  afterAll(() => scene.close());

  const user = () => ({ tokenUUID: scene.tokens.browser, userUUID: newUserUUID() });

  it('lets pages log events, identify visitors and read contacts', async () => {
    const { tokenUUID, userUUID } = user();
    const events = await scene.post(`${folder}update`, { tokenUUID, userUUID, event: [{ eventID: 1 }] });
    expect(events.body).toMatchObject({ status: '200', event: [{ status: '200' }] });
    const fields = { tokenUUID, userUUID, contactEmailaddress: newAddress(), contactProfileID: 'customer' };
    const { body } = await scene.post(`${folder}form`, fields);
    const { contactUUID } = body;
    const profile = await scene.get(`${folder}profile`, { tokenUUID, contactUUID }, { Origin: 'https://shop.example' });
    expect(profile.body.contact.contactEmailaddress).toBe(fields.contactEmailaddress);
    expect(profile.headers.get('access-control-allow-origin')).toBe('*');
    const stored = await scene.get('/tea/event/getEvent', { tokenUUID: scene.tokens.server, userUUID });
    expect(stored.body.event).toHaveLength(1);
  });

  it('logs events with an image, for e-mails and pages without scripts', async () => {
    const sender = user();
    const { status, headers } = await scene.get(
      `${folder}picture`,
      { ...sender, eventID: 5 },
      { Accept: 'image/avif,image/*;q=0.8' },
    );
    expect([status, headers.get('content-type')]).toEqual([200, 'image/gif']);
    const stored = await scene.get('/tea/event/getEvent', { ...sender, tokenUUID: scene.tokens.server });
    expect(stored.body.event).toMatchObject([{ eventID: 5 }]);
  });

  it('renews the cookie for 400 days', async () => {
    const sender = user();
    const headers = {
      Origin: 'https://www.shop.example',
      'Sec-Fetch-Site': 'same-origin',
      Cookie: `userUUID=${sender.userUUID}`,
    };
    const batch = { ...sender, cookieDomain: 'shop.example', event: [{ eventID: 1 }] };
    const response = await scene.post(`${folder}update`, batch, headers);
    expect(response.headers.get('set-cookie')).toBe(
      `userUUID=${sender.userUUID}; Path=/; Max-Age=34560000; SameSite=Lax; Domain=shop.example; Secure`,
    );
  });

  it('accepts only GET for reads and only POST for writes', async () => {
    expect((await scene.get(`${folder}update`, {})).status).toBe(405);
    expect((await scene.post(`${folder}profile`, {})).status).toBe(405);
  });
});

it('serves the published paths at the root, and the names for pages in no other folder', async () => {
  const scene = await openScene({ basePath: '/tea/', paths });
  for (const path of ['/tea/event/logEvent', '/tea/logEvent']) {
    const { status } = await scene.post(path, { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 });
    expect(status).toBe(200);
  }
  for (const path of ['/update', '/tea/other/update', '/tea/shop-data/event/logEvent', '/tea/shop-data']) {
    expect((await scene.post(path, {})).status).toBe(404);
  }
  await scene.close();
});
