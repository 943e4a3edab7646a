import { operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openScene, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

/** Calls createContact as a page. Returns status, headers and body, without the two random parts. */
const createAsPage = async (fields: Record<string, unknown>) => {
  const response = await scene.app.request('/contact/createContact', {
    method: 'POST',
    body: JSON.stringify({ tokenUUID: scene.tokens.browser, contactProfileID: 'customer', ...fields }),
    headers: { 'Content-Type': 'text/plain', Origin: 'https://shop.example' },
  });
  const text = await response.text();
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id');
  const handle = /"contactUUID":"([\w-]{21})"/.exec(text)?.[1] as string;
  return { status: response.status, headers, text: text.replace(handle, 'handle'), handle };
};

describe('a token in a page', () => {
  test('learns nothing from createContact: the response has the same bytes for known and unknown addresses', async () => {
    const contact = {
      contactEmailaddress: 'ann@shop.example',
      contactFirstname: 'Ann',
      contactTelephone: '+1 555 0100',
    };
    const { body } = await scene.post('/contact/createContact', {
      tokenUUID: scene.tokens.server,
      userUUID: 'ann-at-her-own-laptop',
      ...contact,
    });
    const { handle, ...ofKnown } = await createAsPage({
      userUUID: 'a-curious-visitor-1',
      contactEmailaddress: 'Ann@Shop.example',
    });
    const { handle: _, ...ofUnknown } = await createAsPage({
      userUUID: 'a-curious-visitor-2',
      contactEmailaddress: 'eve@x.example',
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(ofKnown.text).toBe('{"exists":false,"contactUUID":"handle","status":"200"}');
    expect(handle).not.toBe(body.contactUUID);

    const readBack = await scene.get('/contact/getContact', { tokenUUID: scene.tokens.browser, contactUUID: handle });
    expect(JSON.stringify(readBack.body)).not.toMatch(/Ann"|555 0100/);
    expect(readBack.body.contact).toMatchObject({ contactEmailaddress: 'ann@shop.example', contactFirstname: '' });
  });

  test('learns nothing from createContact with an external ID either', async () => {
    const contact = {
      contactExternalID: 'customer-1042',
      contactFirstname: 'Ann',
      contactEmailaddress: 'ann@id.example',
    };
    const { body } = await scene.post('/contact/createContact', {
      tokenUUID: scene.tokens.server,
      contactProfileID: 'customer',
      ...contact,
    });
    const { handle, ...ofKnown } = await createAsPage({
      userUUID: 'a-curious-visitor-3',
      contactExternalID: 'customer-1042',
    });
    const { handle: _, ...ofUnknown } = await createAsPage({
      userUUID: 'a-curious-visitor-4',
      contactExternalID: 'customer-0815',
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(handle).not.toBe(body.contactUUID);
    const readBack = await scene.get('/contact/getContact', { tokenUUID: scene.tokens.browser, contactUUID: handle });
    expect(JSON.stringify(readBack.body)).not.toMatch(/Ann"|ann@id/);
    expect(readBack.body.contact).toMatchObject({ contactExternalID: 'customer-1042', contactEmailaddress: '' });
  });

  test.each(operationNames.filter((name) => !(operations[name].tokens as readonly string[]).includes('browser')))(
    'is rejected by %s on each of its paths before the rest of the request is checked',
    async (name) => {
      const { paths, methods } = operations[name];
      for (const path of paths) {
        for (const method of methods) {
          const { status, body } =
            method === 'GET'
              ? await scene.get(path, { tokenUUID: scene.tokens.browser })
              : await scene.post(path, { tokenUUID: scene.tokens.browser });
          expect([path, status, body.error.code]).toEqual([path, 403, 'token_kind']);
        }
      }
    },
  );
});
