/** Serves `/demo/stream`: sends what the service stores about the calling browser, again after each change. */
import { setTimeout as wait } from 'node:timers/promises';
import { userCookieName, userUUIDPattern } from '@firsthand/contract/identifiers';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { getCookie } from 'hono/cookie';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Logger } from 'pino';
import { describeFault } from '../faults.ts';
import type { Asker, Store } from '../store/store.ts';
import { answerHeaders } from './answer-headers.ts';
import { readBrowserData } from './browser-data.ts';
import { isLocalVisitor } from './loopback.ts';

interface StreamOptions {
  readonly store: Pick<Store, 'getEvents' | 'getContact' | 'onCommit'>;
  readonly asker: Asker;
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

const mostStreams = 20;
/** The pause after each read, because commits come in bursts and people read more slowly. */
const settleMs = 50;
/** A stream checks at least this often whether the server is stopping. */
const lookMs = 500;
const heartbeatMs = 15_000;

const failed = 'The service could not read what it holds: its log says why.';

const refuse = (status: 400 | 403 | 500 | 503, reason: string): Response =>
  new Response(`${reason}\n`, {
    status,
    headers: { ...answerHeaders, 'Content-Type': 'text/plain; charset=utf-8' },
  });

export const createStream = ({ store, asker, log, isStopping }: StreamOptions): Handler => {
  let open = 0;

  const read = async (userUUID: string) => JSON.stringify(await readBrowserData(store, asker, userUUID));

  const report = (error: unknown) => log.error({ fault: describeFault(error) }, "the demo's panel failed");

  const follow = async (stream: SSEStreamingApi, userUUID: string, first: string) => {
    let changed = true;
    let wake = () => {};
    const stop = store.onCommit(() => {
      changed = true;
      wake();
    });
    stream.onAbort(() => wake());
    let sent = first;
    let sentAt = performance.now();
    try {
      await stream.writeSSE({ data: first });
      while (!stream.aborted && !isStopping()) {
        if (changed) {
          changed = false;
          const data = await read(userUUID);
          if (data !== sent) {
            await stream.writeSSE({ data });
            sent = data;
            sentAt = performance.now();
          }
          await wait(settleMs);
        } else {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, lookMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
          if (performance.now() - sentAt > heartbeatMs) {
            await stream.write(':\n\n');
            sentAt = performance.now();
          }
        }
      }
    } finally {
      stop();
    }
  };

  return async (c: Context) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const visitor = { remoteAddress: incoming?.socket?.remoteAddress, headers: c.req.raw.headers };
    if (!isLocalVisitor(visitor)) return refuse(403, 'This panel is for visitors on this very machine.');
    const userUUID = getCookie(c, userCookieName);
    if (!userUUID || !userUUIDPattern.test(userUUID)) return refuse(400, 'This browser has no userUUID cookie yet.');
    // A HEAD gets no stream, because no client would read or end it.
    if (c.req.method === 'HEAD') return c.body(null, 200, { ...answerHeaders, 'Content-Type': 'text/event-stream' });
    if (open >= mostStreams) return refuse(503, 'Too many of these panels are open.');
    open += 1;
    let first: string;
    try {
      first = await read(userUUID);
    } catch (error) {
      open -= 1;
      report(error);
      return refuse(500, failed);
    }
    const response = streamSSE(c, async (stream) => {
      try {
        await stream.write('retry: 1000\n\n');
        await follow(stream, userUUID, first);
      } catch (error) {
        report(error);
        await stream.writeSSE({ event: 'error', data: failed });
      } finally {
        open -= 1;
      }
    });
    for (const [name, value] of Object.entries(answerHeaders)) response.headers.set(name, value);
    return response;
  };
};
