/** The API, through the typed client. The browser's cookie says who asks. */
import { type Client, createClient, FirsthandError } from '@firsthand/client';
import { root } from './address.ts';
import { consoleHeader, noteSignedOut } from './session.ts';
import { createTurns } from './turns.ts';

/**
 * The service computes two reports of an account at the same time and refuses those beyond eleven, so two open pages find a place. Reports that
 * wait there share the reading of new events.
 */
const inTurn = createTurns(5);
const isReport = /\/report\/report[A-Z]/;

const send: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  for (const [name, value] of Object.entries(consoleHeader())) request.headers.set(name, value);
  const ask = () => fetch(request);
  const response = await (isReport.test(request.url) ? inTurn(ask, request.signal) : ask());
  if (response.status === 401) noteSignedOut();
  return response;
};

/** Reads are tried again by the client for about a second; after that the page says so, and goes on trying (reading/answer.ts). */
export const api: Client = createClient({ url: root, fetch: send, retries: 2 });

/** Whether an error means that the server was not reached. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof FirsthandError && error.code === 'unreachable';

/** Whether an error means that the resource does not exist, or no longer exists. */
export const isGone = (error: unknown): boolean =>
  error instanceof FirsthandError && (error.status === 404 || error.status === 410);

/** Errors whose messages speak to programs, in words for a reader. */
const wordings: Partial<Record<FirsthandError['code'], string>> = {
  unreachable: 'The server can’t be reached.',
  internal: 'The server has failed.',
  no_reports: 'The server can’t compute reports right now. Try again in a moment.',
  unavailable: 'The server can’t store anything right now. Try again in a moment.',
  too_many_requests: 'The server got too many requests. Try again in a moment.',
  unknown_contact: 'There is no such person in this account.',
  erased_contact: 'This contact was erased, with all its events.',
};

/** Messages of the API begin with a small letter or the name of a field, and end without a full stop. */
const toSentence = (message: string): string => {
  const text = message.trim().replace(/^`[^`]+` (?=must|is )/, 'this value ');
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
};

/** What to tell the reader of an error. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof FirsthandError)) return toSentence(error.message);
  const { code, message, requestID } = error;
  const inLog = code === 'internal' && requestID ? ` Its log says why, under the request ID ${requestID}.` : '';
  return (wordings[code] ?? toSentence(message)) + inLog;
};

/** The reason why an attempt failed, for a form that shows it; '' if it succeeded. */
export const problemOf = (attempt: Promise<unknown>): Promise<string> => attempt.then(() => '', messageOf);
