import { operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openScene, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

/** What a page gets to see: status, headers and body, with the two parts that are random by design left out. */
const seen = async (fields: Record<string, unknown>) => {
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

describe('a token that stands in a page', () => {
  test('learns nothing from createContact: the same bytes for a known and for an unknown address', async () => {
    const known = { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann', contactTelephone: '+1 555 0100' };
    const { body } = await scene.post('/contact/createContact', {
      tokenUUID: scene.tokens.server,
      userUUID: 'ann-at-her-own-laptop',
      ...known,
    });
    const { handle, ...ofKnown } = await seen({
      userUUID: 'a-curious-visitor-1',
      contactEmailaddress: 'Ann@Shop.example',
    });
    const { handle: _, ...ofUnknown } = await seen({
      userUUID: 'a-curious-visitor-2',
      contactEmailaddress: 'eve@x.example',
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(ofKnown.text).toBe('{"exists":false,"contactUUID":"handle","status":"200"}');
    expect(handle).not.toBe(body.contactUUID);

    const shown = await scene.get('/contact/getContact', { tokenUUID: scene.tokens.browser, contactUUID: handle });
    expect(JSON.stringify(shown.body)).not.toMatch(/Ann"|555 0100/);
    expect(shown.body.contact).toMatchObject({ contactEmailaddress: 'ann@shop.example', contactFirstname: '' });
  });

  test('learns nothing from createContact by an external ID either', async () => {
    const known = {
      contactExternalID: 'customer-1042',
      contactFirstname: 'Ann',
      contactEmailaddress: 'ann@id.example',
    };
    const { body } = await scene.post('/contact/createContact', {
      tokenUUID: scene.tokens.server,
      contactProfileID: 'customer',
      ...known,
    });
    const { handle, ...ofKnown } = await seen({ userUUID: 'a-curious-visitor-3', contactExternalID: 'customer-1042' });
    const { handle: _, ...ofUnknown } = await seen({
      userUUID: 'a-curious-visitor-4',
      contactExternalID: 'customer-0815',
    });
    expect(ofKnown).toEqual(ofUnknown);
    expect(handle).not.toBe(body.contactUUID);
    const shown = await scene.get('/contact/getContact', { tokenUUID: scene.tokens.browser, contactUUID: handle });
    expect(JSON.stringify(shown.body)).not.toMatch(/Ann"|ann@id/);
    expect(shown.body.contact).toMatchObject({ contactExternalID: 'customer-1042', contactEmailaddress: '' });
  });

  test.each(operationNames.filter((name) => !(operations[name].tokens as readonly string[]).includes('browser')))(
    'is refused by %s under each of its paths, before anything else of the request is looked at',
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
