/** The API, through the typed client. Requests are authenticated by the browser's session cookie. */
import { type Client, createClient, FirsthandError } from '@firsthand/client';
import { root } from './address.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { consoleHeader, handleSignedOut } from './session.ts';

/**
 * The service computes two reports per account at a time, queues nine more and refuses the rest. A limit of five per
 * page lets two pages be open.
 */
const limitReports = createConcurrencyLimit(5);
const isReport = /\/report\/report[A-Z]/;

const send: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  for (const [name, value] of Object.entries(consoleHeader())) request.headers.set(name, value);
  const start = () => fetch(request);
  const response = await (isReport.test(request.url) ? limitReports(start, request.signal) : start());
  if (response.status === 401) handleSignedOut();
  return response;
};

/**
 * The client retries reads for about a second. After that, the page shows the error and keeps retrying
 * (reading/use-fetch.ts).
 */
export const api: Client = createClient({ url: root, fetch: send, retries: 2 });

export const isUnreachable = (error: unknown): boolean =>
  error instanceof FirsthandError && error.code === 'unreachable';

export const isGone = (error: unknown): boolean =>
  error instanceof FirsthandError && (error.status === 404 || error.status === 410);

/** Messages for errors whose own messages are meant for developers. */
const wordings: Partial<Record<FirsthandError['code'], string>> = {
  unreachable: 'The server can’t be reached.',
  internal: 'The server encountered an error.',
  no_reports: 'The server can’t compute reports right now. Try again in a moment.',
  unavailable: 'The server can’t store anything right now. Try again in a moment.',
  too_many_requests: 'Too many requests. Try again in a moment.',
  unknown_contact: 'This person is not in this account.',
  erased_contact: 'This contact and all its events were erased.',
};

/** API messages start with a lowercase letter or a field name, and have no final period. */
const toSentence = (message: string): string => {
  const text = message.trim().replace(/^`[^`]+` (?=must|is )/, 'this value ');
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
};

/** The text to show for an error. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof FirsthandError)) return toSentence(error.message);
  const { code, message, requestID } = error;
  const inLog = code === 'internal' && requestID ? ` See its log for request ID ${requestID}.` : '';
  return (wordings[code] ?? toSentence(message)) + inLog;
};

/** The text to show if an attempt fails; '' if it succeeds. */
export const problemOf = (attempt: Promise<unknown>): Promise<string> => attempt.then(() => '', messageOf);
