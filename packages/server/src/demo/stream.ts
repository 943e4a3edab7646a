/** Serves `/demo/stream`, which sends the data stored about the calling browser, initially and after each change. */
import { setTimeout as wait } from 'node:timers/promises';
import { userCookieName, userUUIDPattern } from '@firsthand/contract/identifiers';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { getCookie } from 'hono/cookie';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Logger } from 'pino';
import { isLocalVisitor } from '../http/access/loopback.ts';
import { describeFault } from '../logging/faults.ts';
import type { Store, StoreCaller } from '../store/store.ts';
import { readBrowserData } from './browser-data.ts';
import { responseHeaders } from './response-headers.ts';

export interface StreamOptions {
  readonly store: Store;
  readonly caller: StoreCaller;
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

const maxStreams = 20;
/** How often a stream checks for commits, which arrive in bursts, and for the server's shutdown. */
const pollMs = 50;
const heartbeatMs = 15_000;

const readErrorMessage = 'The service could not read its data. See its log for the reason.';

const refuse = (status: 400 | 403 | 500 | 503, reason: string): Response =>
  new Response(`${reason}\n`, {
    status,
    headers: { ...responseHeaders, 'Content-Type': 'text/plain; charset=utf-8' },
  });

export const createStream = ({ store, caller, log, isStopping }: StreamOptions): Handler => {
  let open = 0;

  const read = async (userUUID: string) => JSON.stringify(await readBrowserData(store, caller, userUUID));

  const report = (error: unknown) => log.error({ fault: describeFault(error) }, 'the demo panel failed');

  const follow = async (stream: SSEStreamingApi, userUUID: string, first: string) => {
    let changed = true;
    const stop = store.onCommit(() => {
      changed = true;
    });
    let sent = first;
    let sentAt = performance.now();
    try {
      await stream.writeSSE({ data: first });
      for (; !stream.aborted && !isStopping(); await wait(pollMs)) {
        let data = sent;
        if (changed) {
          // Reset before the read, so that a commit during the read is not missed.
          changed = false;
          data = await read(userUUID);
        }
        if (data !== sent) await stream.writeSSE({ data });
        else if (performance.now() - sentAt > heartbeatMs) await stream.write(':\n\n');
        else continue;
        sent = data;
        sentAt = performance.now();
      }
    } finally {
      stop();
    }
  };

  return async (c: Context) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const visitor = { remoteAddress: incoming?.socket?.remoteAddress, headers: c.req.raw.headers };
    if (!isLocalVisitor(visitor))
      return refuse(403, "This panel is available only to browsers on the server's machine.");
    const userUUID = getCookie(c, userCookieName);
    if (!userUUID || !userUUIDPattern.test(userUUID)) return refuse(400, 'This browser has no userUUID cookie yet.');
    // No stream for HEAD requests, because no client would read or close it.
    if (c.req.method === 'HEAD') return c.body(null, 200, { ...responseHeaders, 'Content-Type': 'text/event-stream' });
    if (open >= maxStreams) return refuse(503, 'Too many panels are open.');
    open += 1;
    let first: string;
    try {
      first = await read(userUUID);
    } catch (error) {
      open -= 1;
      report(error);
      return refuse(500, readErrorMessage);
    }
    const response = streamSSE(c, async (stream) => {
      try {
        await stream.write('retry: 1000\n\n');
        await follow(stream, userUUID, first);
      } catch (error) {
        report(error);
        await stream.writeSSE({ event: 'error', data: readErrorMessage });
      } finally {
        open -= 1;
      }
    });
    for (const [name, value] of Object.entries(responseHeaders)) response.headers.set(name, value);
    return response;
  };
};
