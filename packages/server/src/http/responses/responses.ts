/**
 * Builds responses, with the headers that all responses share. Only this file converts a Refusal to an HTTP response.
 */

import { statusOf } from '@firsthand/contract/errors';
import type { ErrorBody, Problem } from '@firsthand/contract/response';
import type { Refusal } from '../../shared/refusal.ts';
import { openHeaders } from './cors.ts';

/** The properties of a request that its response needs. */
export interface Exchange {
  readonly requestID: string;
  /** Whether pages on any origin may read the response (CORS). */
  readonly openToPages: boolean;
}

export type ResponseHeaders = Record<string, string>;

/** Returns the headers of every response. Referrer-Policy is set because a query string can contain a token. */
export const headersOf = ({ requestID, openToPages }: Exchange): ResponseHeaders => {
  const headers: ResponseHeaders = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Request-Id': requestID,
  };
  if (openToPages) Object.assign(headers, openHeaders);
  return headers;
};

/** Builds a JSON response. `body.status` is the HTTP status, as the published interface requires. */
export const jsonResponse = <Body extends { status: string }>(
  exchange: Exchange,
  body: Body,
  extraHeaders?: ResponseHeaders,
): Response => {
  const headers = headersOf(exchange);
  headers['Content-Type'] = 'application/json';
  if (extraHeaders) Object.assign(headers, extraHeaders);
  return new Response(JSON.stringify(body), { status: Number(body.status), headers });
};

export const emptyResponse = (exchange: Exchange, status: number, extraHeaders?: ResponseHeaders): Response =>
  new Response(null, {
    status,
    headers: extraHeaders ? Object.assign(headersOf(exchange), extraHeaders) : headersOf(exchange),
  });

export const refusalBody = ({ requestID }: Exchange, { code, field, message }: Refusal): ErrorBody => ({
  error: { code, message, field },
  requestID,
  status: String(statusOf(code)),
});

/** Returns the result for a list entry that was refused, while other entries were not. */
export const problemResult = (error: Problem) => ({ status: String(statusOf(error.code)), error });

const defaultRetrySeconds = 1;

export const refusalResponse = (exchange: Exchange, refusal: Refusal, extraHeaders?: ResponseHeaders) => {
  const body = refusalBody(exchange, refusal);
  const isRetryable = body.status === '429' || body.status === '503';
  const retrySeconds = Math.max(defaultRetrySeconds, Math.ceil(refusal.retryAfterSeconds ?? 0));
  return jsonResponse(exchange, body, { ...extraHeaders, ...(isRetryable && { 'Retry-After': String(retrySeconds) }) });
};
