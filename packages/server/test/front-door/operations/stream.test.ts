import { limits } from '@firsthand/contract/limits';
import type { ErrorBody } from '@firsthand/contract/response';
import { Hono } from 'hono';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createStreamReply } from '../../../src/http/operations/stream.ts';
import { hashToken } from '../../../src/ingest/token.ts';
import type { Access, EventQuery } from '../../../src/store/store.ts';
import { newUserUUID } from '../../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../fixtures/scene.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const closable of open.splice(0).reverse()) await closable.close();
});
const startScene = async (...options: Parameters<typeof openScene>) => {
  const scene = await openScene(...options);
  open.push(scene);
  return scene;
};

const log = (scene: Scene, eventID: number, userUUID = newUserUUID()) =>
  scene.post('/logEvent', { tokenUUID: scene.tokens.browser, userUUID, eventID });

interface StreamedEvent {
  readonly id: string;
  readonly eventID: number;
}

/** Opens a stream; returns its text so far, and whether it has ended. */
const follow = async (scene: Scene, fields: Fields = {}, headers: Record<string, string> = {}) => {
  const query = new URLSearchParams(fields as Record<string, string>);
  const authorization = { Authorization: `Bearer ${scene.tokens.server}` };
  const response = await scene.app.request(`/event/streamEvents?${query}`, {
    headers: { ...authorization, ...headers },
  });
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const stream = { response, text: '', ended: false, close: () => reader.cancel() };
  open.push(stream);
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      stream.text += new TextDecoder().decode(value);
    }
    stream.ended = true;
  };
  void read();
  await expect.poll(() => stream.text).toMatch(/^id: .+\n\n/);
  const received = (): StreamedEvent[] =>
    [...stream.text.matchAll(/^event: event\ndata: (.*)\nid: (.*)\n\n/gm)].map(([, data = '', id = '']) => ({
      id,
      eventID: JSON.parse(data).eventID,
    }));
  return { stream, received, ids: () => received().map(({ eventID }) => eventID) };
};

describe('streamEvents', () => {
  it('sends new events in order', async () => {
    const scene = await startScene();
    await log(scene, 1);
    const { ids, stream } = await follow(scene);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.response.headers.get('cache-control')).toBe('no-store');
    for (const eventID of [2, 3, 4]) await log(scene, eventID);
    await expect.poll(ids).toEqual([2, 3, 4]);
  });

  it('resumes after a cursor, or after the last event that a reconnecting client received', async () => {
    const scene = await startScene();
    const first = await follow(scene);
    for (const eventID of [1, 2, 3]) await log(scene, eventID);
    await expect.poll(first.ids).toEqual([1, 2, 3]);
    const [{ id }] = first.received() as [StreamedEvent];
    const byCursor = await follow(scene, { cursor: id });
    const byHeader = await follow(scene, {}, { 'Last-Event-ID': id });
    await log(scene, 4);
    for (const { ids } of [byCursor, byHeader]) await expect.poll(ids).toEqual([2, 3, 4]);
  });

  it('begins with its position, so that a client that disconnects before the first event misses nothing', async () => {
    const scene = await startScene();
    await log(scene, 1);
    const cut = await follow(scene, { eventID: '7' });
    const [, id = ''] = /^id: (.+)\n\n$/.exec(cut.stream.text) ?? [];
    await cut.stream.close();
    for (const eventID of [7, 8, 7]) await log(scene, eventID);
    for (const [fields, headers] of [
      [{ eventID: '7' }, { 'Last-Event-ID': id }],
      [{ eventID: '7', cursor: id }, {}],
    ]) {
      const { ids } = await follow(scene, fields, headers as Record<string, string>);
      await expect.poll(ids).toEqual([7, 7]);
    }
  });

  it('begins with the given position, even if nothing is stored', async () => {
    const scene = await startScene();
    const first = await follow(scene);
    const second = await follow(scene, {}, { 'Last-Event-ID': first.stream.text.slice('id: '.length).trim() });
    expect(second.stream.text).toBe(first.stream.text);
    await log(scene, 1);
    for (const { ids } of [first, second]) await expect.poll(ids).toEqual([1]);
  });

  it('misses and repeats nothing while many clients log', async () => {
    const scene = await startScene();
    const { ids } = await follow(scene);
    const events = Array.from({ length: 300 }, (_, index) => index + 1);
    await Promise.all(events.map((eventID) => log(scene, eventID)));
    await expect.poll(() => ids().length).toBe(300);
    expect(ids().toSorted((a, b) => a - b)).toEqual(events);
  });

  it('sends only matching events', async () => {
    const scene = await startScene();
    const { ids } = await follow(scene, { eventID: '7' });
    for (const eventID of [6, 7, 8, 7]) await log(scene, eventID);
    await expect.poll(ids).toEqual([7, 7]);
  });

  it('filters by event name, even if the name is new or later moves to another ID', async () => {
    const scene = await startScene();
    const { tokenUUID, userUUID } = { tokenUUID: scene.tokens.server, userUUID: newUserUUID() };
    const { ids } = await follow(scene, { eventName: 'Signed up' });
    await log(scene, 7);
    await scene.post('/logEvent', { tokenUUID, userUUID, eventName: 'Signed up' });
    await expect.poll(ids).toEqual([1_000_000]);
    const event = [
      { eventID: 1_000_000, eventName: 'Signup' },
      { eventID: 7, eventName: 'Signed up' },
    ];
    await scene.post('/account/updateAccount', { tokenUUID, event });
    await log(scene, 1_000_000);
    await log(scene, 7);
    await expect.poll(ids).toEqual([1_000_000, 7]);
  });

  it('ends when its token is revoked', async () => {
    const scene = await startScene();
    const tokenUUID = scene.tokens.server;
    const created = (await scene.post('/account/createToken', { tokenUUID, tokenKind: 'server' })).body;
    const { stream } = await follow(scene, {}, { Authorization: `Bearer ${created.tokenUUID}` });
    await scene.post('/account/revokeToken', { tokenUUID, tokenID: created.tokenID });
    await expect.poll(() => stream.ended).toBe(true);
  });

  it('rejects an unknown or erased contact, as getEvent does', async () => {
    const scene = await startScene();
    const tokenUUID = scene.tokens.server;
    const contact = { contactEmailaddress: 'ada@shop.example', contactProfileID: 'customer' };
    const created = await scene.post('/createContact', { tokenUUID, userUUID: newUserUUID(), ...contact });
    const { contactUUID } = created.body;
    await scene.post('/contact/eraseContact', { tokenUUID, contactUUID });
    for (const [id, status, code] of [
      ['nobody', 404, 'unknown_contact'],
      [contactUUID, 410, 'erased_contact'],
    ]) {
      const responses = [];
      for (const path of ['/event/streamEvents', '/event/getEvent']) {
        const response = await scene.app.request(`${path}?contactUUID=${id}`, {
          headers: { Authorization: `Bearer ${tokenUUID}` },
        });
        const { error } = (await response.json()) as ErrorBody;
        responses.push([response.status, error.code]);
      }
      expect(responses).toEqual([
        [status, code],
        [status, code],
      ]);
    }
  });

  it('reports the erasure of its contact, and then ends', async () => {
    const scene = await startScene();
    const tokenUUID = scene.tokens.server;
    const contact = { contactEmailaddress: 'ada@shop.example', contactProfileID: 'customer' };
    const created = await scene.post('/createContact', { tokenUUID, userUUID: newUserUUID(), ...contact });
    const { contactUUID } = created.body;
    const { stream } = await follow(scene, { contactUUID });
    await scene.post('/contact/eraseContact', { tokenUUID, contactUUID });
    await expect.poll(() => stream.ended).toBe(true);
    const [, data = '{}'] = /^event: error\ndata: (.*)\n\n/m.exec(stream.text) ?? [];
    expect(JSON.parse(data)).toMatchObject({ error: { code: 'erased_contact' }, status: '410' });
  });

  it('reports an internal error without its cause, which is logged with the same requestID', async () => {
    let failing = false;
    const scene = await startScene({
      wrap: (store) => ({
        ...store,
        getEvents: async (query) => {
          if (failing) throw new Error('disk of ada@shop.example');
          return store.getEvents(query);
        },
      }),
    });
    const { stream } = await follow(scene);
    failing = true;
    await expect.poll(() => stream.ended).toBe(true);
    const [, data = '{}'] = /^event: error\ndata: (.*)\n\n/m.exec(stream.text) ?? [];
    const { error, requestID, status } = JSON.parse(data);
    expect([error.code, status]).toEqual(['internal', '500']);
    expect(stream.text).not.toContain('disk');
    expect(scene.logged()).toMatch(new RegExp(`"requestID":"${requestID}","fault":.*disk of …@…`));
  });

  it('ends when the server stops', async () => {
    let stopping = false;
    const scene = await startScene({ isStopping: () => stopping });
    const { stream } = await follow(scene);
    stopping = true;
    await expect.poll(() => stream.ended).toBe(true);
  });

  it('removes its listener when the client disconnects', async () => {
    let listeners = 0;
    const scene = await startScene({
      wrap: (store) => ({
        ...store,
        onCommit: (listener) => {
          const stop = store.onCommit(listener);
          listeners++;
          return () => {
            listeners--;
            stop();
          };
        },
      }),
    });
    const before = listeners;
    const { stream } = await follow(scene);
    expect(listeners).toBe(before + 1);
    await stream.close();
    await expect.poll(() => listeners).toBe(before);
  });

  it('is limited in number per account', async () => {
    const scene = await startScene();
    const streams = [];
    for (let some = 0; some < limits.streamsPerAccount; some++) streams.push(await follow(scene));
    const query = { tokenUUID: scene.tokens.server };
    const { status, headers } = await scene.get('/event/streamEvents', query);
    expect([status, headers.get('retry-after')]).toEqual([429, '10']);
    await streams[0]?.stream.close();
    await expect
      .poll(async () => {
        const response = await scene.app.request(`/event/streamEvents?${new URLSearchParams(query)}`);
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
  });

  it('does not read the store for a stream beyond the limit', async () => {
    let refused = false;
    const reads: EventQuery[] = [];
    const scene = await startScene({
      wrap: (store) => ({
        ...store,
        getEvents: (query) => {
          // Ignores open streams, which still read, in ascending order without a filter.
          if (refused && (query.order === 'desc' || query.eventID === 7)) reads.push(query);
          return store.getEvents(query);
        },
      }),
    });
    for (let some = 0; some < limits.streamsPerAccount; some++) await follow(scene);
    refused = true;
    const { status } = await scene.get('/event/streamEvents', { tokenUUID: scene.tokens.server, eventID: 7 });
    expect([status, reads]).toEqual([429, []]);
  });

  it('does not count toward the limit if it is rejected, or requested by HEAD', async () => {
    const scene = await startScene();
    const query = { tokenUUID: scene.tokens.server };
    const path = `/event/streamEvents?${new URLSearchParams(query)}`;
    for (let some = 0; some <= limits.streamsPerAccount; some++) {
      expect((await scene.get('/event/streamEvents', { ...query, contactUUID: 'nobody' })).status).toBe(404);
      expect((await scene.send(path, { method: 'HEAD' })).status).toBe(200);
    }
    await follow(scene);
  });

  it('sends heartbeats', async () => {
    const scene = await startScene();
    const access = await scene.store.findAccess(hashToken(scene.tokens.server));
    const reply = createStreamReply({
      store: scene.store,
      log: pino({ level: 'silent' }),
      isStopping: () => false,
      heartbeatMilliseconds: 1,
    });
    const caller = { access: access as Access, tokenUUID: scene.tokens.server, time: Date.now() };
    const exchange = { requestID: 'id', openToPages: false };
    const app = new Hono().get('/', (c) => reply({ c, exchange, input: {} as never, caller, ignored: [] }));
    const reader = ((await app.request('/')).body as ReadableStream<Uint8Array>).getReader();
    const chunks = [await reader.read(), await reader.read()];
    await reader.cancel();
    expect(chunks.map(({ value }) => new TextDecoder().decode(value))).toEqual([
      expect.stringMatching(/^id: .+\n\n$/),
      ':\n\n',
    ]);
  });

  it('is not opened by HEAD', async () => {
    let listeners = 0;
    const onCommit = () => {
      listeners++;
      return () => {};
    };
    const scene = await startScene({ wrap: (store) => ({ ...store, onCommit }) });
    const before = listeners;
    const query = new URLSearchParams({ tokenUUID: scene.tokens.server });
    const { status, headers } = await scene.send(`/event/streamEvents?${query}`, { method: 'HEAD' });
    expect([status, headers.get('content-type'), listeners]).toEqual([200, 'text/event-stream', before]);
  });

  it('rejects a cursor that it never returned', async () => {
    const scene = await startScene();
    const query = { tokenUUID: scene.tokens.server };
    expect((await scene.get('/event/streamEvents', { ...query, cursor: 'x' })).body.error.field).toBe('cursor');
    expect((await scene.get('/event/streamEvents', query, { 'Last-Event-ID': 'x' })).status).toBe(400);
  });
});
