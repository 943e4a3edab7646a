import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newUserUUID } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const post = async (path: string, fields: Fields) =>
  (await scene.post(path, { tokenUUID: scene.tokens.server, ...fields })).body;
const listWaiting = async (webhookID: string) => {
  const query = { tokenUUID: scene.tokens.server, webhookID };
  const { body } = await scene.get('/webhook/listWebhookDeliveries', query);
  return body.delivery.map(({ type }: { type: string }) => type);
};
const logEvent = () => post('/event/logEvent', { userUUID: newUserUUID(), eventName: 'Bought' });

describe('listWebhookDeliveries', () => {
  it('lists only messages that were stored after the webhook was created', async () => {
    await logEvent();
    // The webhook is created in a later millisecond.
    await wait(2);
    const { webhookID } = await post('/webhook/createWebhook', { url: 'https://crm.example/', type: ['event.logged'] });
    const list = async () => {
      const query = { tokenUUID: scene.tokens.server, webhookID, after: 0 };
      return (await scene.get('/webhook/listWebhookDeliveries', query)).body.delivery;
    };
    expect(await list()).toEqual([]);
    await logEvent();
    expect(await list()).toMatchObject([{ type: 'event.logged', state: 'waiting' }]);
  });
});

describe('updateWebhook', () => {
  it('keeps skipped messages skipped and waiting messages waiting when the types change', async () => {
    const { webhookID } = await post('/webhook/createWebhook', {
      url: 'https://crm.example/',
      type: ['contact.created'],
    });
    await logEvent();
    await post('/webhook/updateWebhook', { webhookID, type: ['contact.created', 'event.logged'] });
    expect(await listWaiting(webhookID)).toEqual([]);
    await logEvent();
    await post('/webhook/updateWebhook', { webhookID, type: ['event.logged'] });
    expect(await listWaiting(webhookID)).toEqual(['event.logged']);
  });
});
