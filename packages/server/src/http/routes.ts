/** What all routes share: method, preflight, requestID, refusals and faults as answers, the log line. */
import { RequestError } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import { Refusal } from '../refusal.ts';
import { type Exchange, emptyAnswer, refusalAnswer } from './answers.ts';
import { preflightHeaders } from './cors.ts';
import { createToRefusal } from './failures.ts';
import type { SpendRefusal } from './refusal-budget.ts';

export interface Route {
  /** Where GET is, HEAD is too. */
  readonly methods: readonly ('GET' | 'POST')[];
  readonly openToPages?: boolean | undefined;
  readonly answer: (c: Context, exchange: Exchange) => Response | Promise<Response>;
}

interface RouteSurroundings {
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

interface ServingSurroundings extends RouteSurroundings {
  /** Is called with each error before it is answered. */
  readonly spendRefusal: SpendRefusal;
}

const allowedMethods = (methods: Route['methods']): string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const newExchange = (closing: boolean, openToPages = false): Exchange => ({
  requestID: nanoid(),
  openToPages,
  closing,
});

/**
 * Serves a route: never throws. Its log line names the path, which is one of ours and so holds nothing of the client's,
 * and no query string.
 */
export const createRouteServer = ({ log, isStopping, spendRefusal }: ServingSurroundings) => {
  const toRefusal = createToRefusal(log);

  return ({ methods, openToPages = false, answer }: Route): Handler => {
    const allowed = allowedMethods(methods);
    const allow = (openToPages ? [...allowed, 'OPTIONS'] : allowed).join(', ');

    const refusedMethod = (method: string) =>
      new Refusal('method_not_allowed', { message: `the path takes ${allow}, not ${method.slice(0, 16)}` });

    const answerPreflight = (exchange: Exchange, { headers }: Request) =>
      emptyAnswer(exchange, 204, preflightHeaders(allowed, headers.get('access-control-request-headers') ?? ''));

    return async (c) => {
      const started = performance.now();
      const { method } = c.req;
      const exchange = newExchange(isStopping(), openToPages);
      let response: Response;
      try {
        if (allowed.includes(method)) response = await answer(c, exchange);
        else if (method === 'OPTIONS' && openToPages) response = answerPreflight(exchange, c.req.raw);
        else throw refusedMethod(method);
      } catch (error) {
        const refusal = toRefusal(exchange.requestID, await spendRefusal(c, error));
        const more = refusal.code === 'method_not_allowed' ? { Allow: allow } : undefined;
        response = refusalAnswer(exchange, refusal, more);
      }
      if (log.isLevelEnabled('debug')) {
        const milliseconds = Math.round((performance.now() - started) * 100) / 100;
        const { requestID } = exchange;
        log.debug({ requestID, method, path: c.req.path, status: response.status, milliseconds }, 'request');
      }
      return response;
    };
  };
};

/**
 * The answer where a request does not get as far as a route: its target or its Host header can't be read. Or to a fault of
 * what is no route of ours.
 */
export const createFailed = ({ log, isStopping }: RouteSurroundings) => {
  const toRefusal = createToRefusal(log);
  return (error: unknown): Response => {
    const exchange = newExchange(isStopping());
    const malformed = 'the request target or the Host header is malformed';
    const reason = error instanceof RequestError ? new Refusal('invalid_field', { message: malformed }) : error;
    return refusalAnswer(exchange, toRefusal(exchange.requestID, reason));
  };
};

/** The answer where no route is. The path is the client's, and may hold anything: it is not logged. */
export const createNotFound = ({ log, isStopping, spendRefusal }: ServingSurroundings) => {
  const toRefusal = createToRefusal(log);
  return async (c: Context): Promise<Response> => {
    const exchange = newExchange(isStopping());
    const { requestID } = exchange;
    const response = refusalAnswer(
      exchange,
      toRefusal(requestID, await spendRefusal(c, new Refusal('unknown_operation'))),
    );
    log.debug({ requestID, status: response.status }, 'request');
    return response;
  };
};
