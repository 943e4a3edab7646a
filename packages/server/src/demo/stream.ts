/** `/demo/stream`: what the service holds about the browser that asks, sent anew whenever that changes. */
import { setTimeout as wait } from 'node:timers/promises';
import { userCookieName, userUUIDPattern } from '@firsthand/contract/identifiers';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { getCookie } from 'hono/cookie';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Asker, Store } from '../store/store.ts';
import { readHoldings } from './holdings.ts';
import { isLocalVisitor } from './loopback.ts';

export interface StreamOptions {
  readonly store: Pick<Store, 'getEvents' | 'getContact' | 'onCommit'>;
  readonly asker: Asker;
  readonly isStopping: () => boolean;
}

const mostStreams = 20;
/** Commits come in bursts; a reader's eye is slower. */
const settleMs = 50;
/** How soon a stopping server is noticed. */
const lookMs = 500;
const heartbeatMs = 15_000;

const refuse = (status: 400 | 403 | 503, reason: string): Response =>
  new Response(`${reason}\n`, {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  });

export const createStream = ({ store, asker, isStopping }: StreamOptions): Handler => {
  let open = 0;

  const follow = async (stream: SSEStreamingApi, userUUID: string) => {
    let changed = true;
    let wake = () => {};
    const stop = store.onCommit(() => {
      changed = true;
      wake();
    });
    stream.onAbort(() => wake());
    let sent = '';
    let sentAt = performance.now();
    try {
      while (!stream.aborted && !isStopping()) {
        if (changed) {
          changed = false;
          const data = JSON.stringify(await readHoldings(store, asker, userUUID));
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

  return (c: Context) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const visitor = { remoteAddress: incoming?.socket?.remoteAddress, headers: c.req.raw.headers };
    if (!isLocalVisitor(visitor)) return refuse(403, 'This panel is for visitors on this very machine.');
    const userUUID = getCookie(c, userCookieName);
    if (!userUUID || !userUUIDPattern.test(userUUID)) return refuse(400, 'This browser has no userUUID cookie yet.');
    if (open >= mostStreams) return refuse(503, 'Too many of these panels are open.');
    open += 1;
    const response = streamSSE(c, async (stream) => {
      try {
        await stream.write('retry: 1000\n\n');
        await follow(stream, userUUID);
      } finally {
        open -= 1;
      }
    });
    response.headers.set('Cache-Control', 'no-store');
    response.headers.set('X-Content-Type-Options', 'nosniff');
    return response;
  };
};
