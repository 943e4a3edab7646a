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

describe('listWebhooks', () => {
  it('reports the events that the retention period deleted before they were sent', async () => {
    const { webhookID } = await post('/webhook/createWebhook', { url: 'https://crm.example/', type: ['event.logged'] });
    const find = async () => {
      const { body } = await scene.get('/webhook/listWebhooks', { tokenUUID: scene.tokens.server });
      return body.webhook.find((webhook: { webhookID: string }) => webhook.webhookID === webhookID);
    };
    const { sequence, skipped } = await find();
    expect(skipped).toBeUndefined();
    for (const _ of [1, 2]) await logEvent();
    await scene.store.deleteEventsBefore({ time: Date.now() + 60_000, limit: 1_000 });
    const { events, fromSequence, throughSequence } = (await find()).skipped;
    expect(events).toBe(2);
    expect(fromSequence).toBeGreaterThan(sequence);
    expect(throughSequence).toBeGreaterThan(fromSequence);
  });

  it('lists a webhook’s segments, which the segment types require', async () => {
    const url = 'https://crm.example/';
    const type = ['segment.entered'];
    const { error } = await post('/webhook/createWebhook', { url, type });
    expect(error).toMatchObject({ code: 'missing_field', field: 'segmentName' });
    const segmentName = ['Buyers'];
    const unknown = await post('/webhook/createWebhook', { url, type, segmentName });
    expect(unknown.error).toMatchObject({ code: 'unknown_segment', field: 'segmentName' });
    await post('/report/createSegment', { segmentName: 'Buyers', filter: { event: 'Bought' } });
    const { webhookID } = await post('/webhook/createWebhook', { url, type, segmentName });
    const cleared = await post('/webhook/updateWebhook', { webhookID, segmentName: null });
    expect(cleared.error).toMatchObject({ code: 'missing_field', field: 'segmentName' });
    const { body } = await scene.get('/webhook/listWebhooks', { tokenUUID: scene.tokens.server });
    expect(body.webhook.at(-1)).toMatchObject({
      segmentName: ['Buyers'],
      audience: [{ segmentName: 'Buyers', contacts: 0 }],
    });
    const deletion = await post('/report/deleteSegment', { segmentName: 'Buyers' });
    expect(deletion.error).toMatchObject({ code: 'invalid_field', field: 'segmentName' });
    await post('/webhook/updateWebhook', { webhookID, type: ['contact.created'], segmentName: null });
    expect(await post('/report/deleteSegment', { segmentName: 'Buyers' })).toMatchObject({ status: '200' });
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
