/** The parts that all routes share: methods, preflights, the requestID, responses for refusals and faults, the log line. */
import { RequestError } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import { Refusal } from '../shared/refusal.ts';
import type { SpendRefusal } from './access/refusal-budget.ts';
import { type Exchange, emptyAnswer, refusalAnswer } from './answers/answers.ts';
import { preflightHeaders } from './answers/cors.ts';
import { createToRefusal } from './answers/to-refusal.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface Route {
  /** GET includes HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  readonly openToPages?: boolean | undefined;
  /** Its name in /metrics, where several routes may share one. */
  readonly name?: string;
  /** What the log has in place of a path that holds a secret. */
  readonly loggedPath?: string;
  readonly answer: (c: Context, exchange: Exchange) => Response | Promise<Response>;
}

const allowedMethods = (methods: Route['methods']): string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const newExchange = (openToPages = false): Exchange => ({ requestID: nanoid(), openToPages });

/**
 * Returns `serve`, which makes the handler of a route, and `notFound`, the handler for all other paths. Neither handler throws.
 * `spendRefusal` is called with each error before the response is made.
 */
export const createRouteServer = (log: Logger, spendRefusal: SpendRefusal, traffic: Traffic = createTraffic()) => {
  const toRefusal = createToRefusal(log);

  const refuse = async (c: Context, exchange: Exchange, error: unknown, allow = '') => {
    const refusal = toRefusal(exchange.requestID, await spendRefusal(c, error));
    traffic.refuse(refusal.code);
    return refusalAnswer(exchange, refusal, refusal.code === 'method_not_allowed' ? { Allow: allow } : undefined);
  };

  /** The log line has the path, which is one of ours and so holds no data of the client (else `loggedPath`), and no query string. */
  const serve = ({ name = 'other', methods, openToPages = false, loggedPath, answer }: Route): Handler => {
    const count = traffic.counting(name);
    const allowed = allowedMethods(methods);
    const allow = (openToPages ? [...allowed, 'OPTIONS'] : allowed).join(', ');

    return async (c) => {
      const started = performance.now();
      traffic.numbers.underWay += 1;
      const { method } = c.req;
      const exchange = newExchange(openToPages);
      let response: Response;
      try {
        if (allowed.includes(method)) response = await answer(c, exchange);
        else if (method === 'OPTIONS' && openToPages) {
          const asked = c.req.raw.headers.get('access-control-request-headers') ?? '';
          response = emptyAnswer(exchange, 204, preflightHeaders(allowed, asked));
        } else {
          const message = `the path takes ${allow}, not ${method.slice(0, 16)}`;
          throw new Refusal('method_not_allowed', { message });
        }
      } catch (error) {
        response = await refuse(c, exchange, error, allow);
      }
      const took = performance.now() - started;
      traffic.numbers.underWay -= 1;
      count(response.status, took);
      if (log.isLevelEnabled('debug')) {
        const milliseconds = Math.round(took * 100) / 100;
        const { requestID } = exchange;
        const path = loggedPath ?? c.req.path;
        log.debug({ requestID, method, path, status: response.status, milliseconds }, 'request');
      }
      return response;
    };
  };

  const countUnknown = traffic.counting('unknown');

  /** Does not log the path, which the client chose and which may hold anything. `meant` is the path that it probably misspells. */
  const notFound = async (c: Context, meant?: string): Promise<Response> => {
    const started = performance.now();
    const exchange = newExchange();
    const response = await refuse(
      c,
      exchange,
      new Refusal(
        'unknown_operation',
        meant === undefined ? {} : { message: `no operation has this path. Did you mean ${meant}?` },
      ),
    );
    countUnknown(response.status, performance.now() - started);
    log.debug({ requestID: exchange.requestID, status: response.status }, 'request');
    return response;
  };

  return { serve, notFound };
};

/**
 * Makes the response to an error outside any route: a request target or Host header that can't be parsed, or a fault of code
 * that is no route of ours.
 */
export const createFailed = (log: Logger) => {
  const toRefusal = createToRefusal(log);
  return (error: unknown): Response => {
    const exchange = newExchange();
    const malformed = 'the request target or the Host header is malformed';
    const reason = error instanceof RequestError ? new Refusal('invalid_field', { message: malformed }) : error;
    return refusalAnswer(exchange, toRefusal(exchange.requestID, reason));
  };
};
