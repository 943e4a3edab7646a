/**
 * The behavior that all routes share: methods, preflights, the requestID, responses to refusals and faults, and the log
 * line.
 */
import { RequestError } from '@hono/node-server';
import type { Context, Handler } from 'hono';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import { Refusal } from '../shared/refusal.ts';
import type { SpendRefusal } from './access/refusal-budget.ts';
import { preflightHeaders } from './responses/cors.ts';
import { type Exchange, emptyResponse, refusalResponse } from './responses/responses.ts';
import { createErrorConverter } from './responses/to-refusal.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface Route {
  /** GET includes HEAD. */
  readonly methods: readonly ('GET' | 'POST')[];
  readonly openToPages?: boolean | undefined;
  /** The route's name in /metrics; several routes may share a name. */
  readonly name?: string;
  /** Replaces a path that contains a secret in the log. */
  readonly loggedPath?: string;
  readonly handle: (c: Context, exchange: Exchange) => Response | Promise<Response>;
  /** Creates the response to a refusal; by default, the published interface's. */
  readonly refuse?: typeof refusalResponse;
}

const allowedMethods = (methods: Route['methods']): string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const newExchange = (openToPages = false): Exchange => ({ requestID: nanoid(), openToPages });

/**
 * Returns `serve`, which creates a route's handler, and `notFound`, which handles all other paths. Neither handler
 * throws. `spendRefusal` is called with each error before the response is built.
 */
export const createRouteServer = (log: Logger, spendRefusal: SpendRefusal, traffic: Traffic = createTraffic()) => {
  const toRefusal = createErrorConverter(log);

  const refuse = async (c: Context, exchange: Exchange, error: unknown, allow = '', respond = refusalResponse) => {
    const refusal = toRefusal(exchange.requestID, await spendRefusal(c, error));
    traffic.refuse(refusal.code);
    return respond(exchange, refusal, refusal.code === 'method_not_allowed' ? { Allow: allow } : undefined);
  };

  /** Doesn't log query strings or paths with client data: it logs `loggedPath` instead. */
  const serve = ({
    name = 'other',
    methods,
    openToPages = false,
    loggedPath,
    handle,
    refuse: respond,
  }: Route): Handler => {
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
        if (allowed.includes(method)) response = await handle(c, exchange);
        else if (method === 'OPTIONS' && openToPages) {
          const requested = c.req.raw.headers.get('access-control-request-headers') ?? '';
          response = emptyResponse(exchange, 204, preflightHeaders(allowed, requested));
        } else {
          const message = `the path takes ${allow}, not ${method.slice(0, 16)}`;
          throw new Refusal('method_not_allowed', { message });
        }
      } catch (error) {
        response = await refuse(c, exchange, error, allow, respond);
      }
      const duration = performance.now() - started;
      traffic.numbers.underWay -= 1;
      count(response.status, duration);
      if (log.isLevelEnabled('debug')) {
        const milliseconds = Math.round(duration * 100) / 100;
        const { requestID } = exchange;
        const path = loggedPath ?? c.req.path;
        log.debug({ requestID, method, path, status: response.status, milliseconds }, 'request');
      }
      return response;
    };
  };

  const countUnknown = traffic.counting('unknown');

  /**
   * Doesn't log the path, because the client chose it and it can contain anything. `suggestion` is the path that was
   * probably meant.
   */
  const notFound = async (c: Context, suggestion?: string): Promise<Response> => {
    const started = performance.now();
    const exchange = newExchange();
    const response = await refuse(
      c,
      exchange,
      new Refusal(
        'unknown_operation',
        suggestion === undefined ? {} : { message: `no operation has this path. Did you mean ${suggestion}?` },
      ),
    );
    countUnknown(response.status, performance.now() - started);
    log.debug({ requestID: exchange.requestID, status: response.status }, 'request');
    return response;
  };

  return { serve, notFound };
};

/**
 * Returns a function that builds the response to an error outside our routes: an unparseable request target or Host
 * header, or a fault in other code.
 */
export const createErrorResponder = (log: Logger) => {
  const toRefusal = createErrorConverter(log);
  return (error: unknown): Response => {
    const exchange = newExchange();
    const message = 'the request target or the Host header is malformed';
    const reason = error instanceof RequestError ? new Refusal('invalid_field', { message }) : error;
    return refusalResponse(exchange, toRefusal(exchange.requestID, reason));
  };
};
