/** Tests the client's timers, streams, aborts and Dates in any runtime: `client-session.ts <url> <server token>`. */
import { deepStrictEqual } from 'node:assert';
import process from 'node:process';
import { createClient, FirsthandError } from '@firsthand/client';

const [url = '', token = ''] = process.argv.slice(2);
const client = createClient({ url, token, dates: true });
const userUUID = 'a-user-of-other-runtimes';
const eventTime = new Date('2026-11-01T09:30:00.125Z');
const events = 250;

await client.logEvents({
  userUUID,
  event: Array.from({ length: events }, (_, nth) => ({
    eventID: 3,
    eventTime,
    eventAttrArray: [{ attrID: 'nth', attrValue: nth }],
  })),
});

const times: number[] = [];
for await (const { event } of client.pages('getEvent', { userUUID, from: eventTime })) {
  times.push(...event.map((one) => one.eventTime.getTime()));
}
deepStrictEqual(
  times,
  Array.from({ length: events }, () => eventTime.getTime()),
);

let streamedCount = 0;
for await (const event of client.streamEvents({ cursor: btoa('e1.0').replace('==', '') })) {
  deepStrictEqual(event.eventTime, eventTime);
  streamedCount += 1;
  if (streamedCount === events) break;
}

const catchFailure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no failure',
    (failure) => failure,
  );
const refused = await catchFailure(client.unlinkUser({ userUUID: 'nobody-of-other-runtimes' }));
deepStrictEqual(refused instanceof FirsthandError && refused.code, 'unknown_user');
const reason = new Error('enough');
deepStrictEqual(await catchFailure(client.getEvent({}, { signal: AbortSignal.abort(reason) })), reason);
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });
const timeoutFailure = await catchFailure(
  createClient({ url, token, fetch: silent, timeoutMs: 1, retries: 1 }).getEvent({}),
);
deepStrictEqual(timeoutFailure instanceof FirsthandError && timeoutFailure.code, 'unreachable');
