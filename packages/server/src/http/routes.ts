/** The parts that all routes share: methods, preflights, the requestID, responses for refusals and faults, the log line. */
import { RequestError } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import { Refusal } from '../refusal.ts';
import type { SpendRefusal } from './access/refusal-budget.ts';
import { type Exchange, emptyAnswer, refusalAnswer } from './answers/answers.ts';
import { preflightHeaders } from './answers/cors.ts';
import { createToRefusal } from './answers/to-refusal.ts';

export interface Route {
  /** GET includes HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  readonly openToPages?: boolean | undefined;
  readonly answer: (c: Context, exchange: Exchange) => Response | Promise<Response>;
}

interface RouteSurroundings {
  readonly log: Logger;
  readonly isStopping: () => boolean;
}

interface ServingSurroundings extends RouteSurroundings {
  /** Called with each error before the response is made. */
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
 * Returns a function that makes the handler of a route. The handler never throws. Its log line has the path, which is one of ours
 * and so holds no data of the client, and no query string.
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
 * Makes the response to an error outside any route: a request target or Host header that can't be parsed, or a fault of code
 * that is no route of ours.
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

/** The handler for paths without a route. It does not log the path, which the client chose and which may hold anything. */
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
