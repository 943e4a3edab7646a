/** What the client does with timers, streams, aborts and Dates, for any runtime: `client-session.ts <url> <server token>`. */
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

let followed = 0;
for await (const event of client.streamEvents({ cursor: btoa('e1.0').replace('==', '') })) {
  deepStrictEqual(event.eventTime, eventTime);
  followed += 1;
  if (followed === events) break;
}

const failureOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'no failure',
    (failure) => failure,
  );
const refused = await failureOf(client.unlinkUser({ userUUID: 'nobody-of-other-runtimes' }));
deepStrictEqual(refused instanceof FirsthandError && refused.code, 'unknown_user');
const reason = new Error('enough');
deepStrictEqual(await failureOf(client.getEvent({}, { signal: AbortSignal.abort(reason) })), reason);
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });
const late = await failureOf(createClient({ url, token, fetch: silent, timeoutMs: 1, retries: 1 }).getEvent({}));
deepStrictEqual(late instanceof FirsthandError && late.code, 'unreachable');
