/** Serves /metrics on the public port to requests with its token, in the text format of Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { headersOf } from './responses/responses.ts';
import type { Route } from './routes.ts';

export interface MetricsAccess {
  readonly token: string;
  /** Returns the metrics as text. */
  readonly read: () => Promise<string>;
}

/** Version 0.0.4 of the text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns a function that checks a request for the token, in constant time. */
export const createTokenCheck = (token: string) => {
  const expected = digest(token);
  return (headers: Headers): boolean => {
    const [, sent = ''] = /^Bearer ([\w-]{1,200})$/i.exec(headers.get('authorization') ?? '') ?? [];
    return timingSafeEqual(digest(sent), expected);
  };
};

export const metricsRoute = ({ read }: MetricsAccess): Route => ({
  name: 'metrics',
  methods: ['GET'],
  handle: async (_, exchange) =>
    new Response(await read(), { headers: { ...headersOf(exchange), 'Content-Type': metricsType } }),
});
