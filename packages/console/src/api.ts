/** The API, through the typed client. The browser's cookie says who asks. */
import { type Client, createClient, FirsthandError } from '@firsthand/client';
import { root } from './address.ts';
import { consoleHeader, noteSignedOut } from './session.ts';
import { createTurns } from './turns.ts';

/** The service carries out two reports at once, and refuses those of an account that has eleven under way. */
const inTurn = createTurns(3);
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

/** What to tell the reader of an error. */
export const messageOf = (error: unknown): string => {
  if (isUnreachable(error)) return 'The server can’t be reached.';
  return error instanceof Error ? error.message : String(error);
};

/** The reason why an attempt failed, for a form that shows it; '' if it succeeded. */
export const problemOf = (attempt: Promise<unknown>): Promise<string> => attempt.then(() => '', messageOf);
