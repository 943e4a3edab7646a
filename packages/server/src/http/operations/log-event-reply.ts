/** Responses to logEvent. A GET for an image, as from an e-mail or a page without scripts, gets an image. */

import type { Answering } from '../access/caller.ts';
import { emptyAnswer, headersOf } from '../answers/answers.ts';
import { type Reply, successAnswer } from '../operation-route.ts';
import { logsNothing } from '../request/prefetch.ts';

/** A GIF of one transparent pixel. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

interface RequestHeaders {
  get(name: string): string | null;
}

// Some browsers send any type (star, slash, star) with an image's request, so Sec-Fetch-Dest counts as well (Fetch Metadata
// Request Headers, section 2.1).
/** Whether a client wants an image, or does not accept JSON. */
const wantsImage = (headers: RequestHeaders): boolean => {
  const accept = headers.get('accept') || '*/*';
  if (accept.includes('application/json')) return false;
  if (accept.includes('image/') || headers.get('sec-fetch-dest') === 'image') return true;
  return !accept.includes('*/*') && !accept.includes('application/*');
};

/** Responds in JSON, or with an image to a GET that wants one. A HEAD or the prefetch of a GET stores nothing. */
export const createLogEventReply =
  (logEvent: Answering<'logEvent'>): Reply<'logEvent'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const { method, headers } = c.req.raw;
    if (logsNothing(c.req.raw)) return emptyAnswer(exchange, 204);
    const answer = await logEvent(input, caller);
    if (method !== 'GET' || !wantsImage(headers)) return successAnswer(exchange, answer, ignored);
    const image = { 'Content-Type': 'image/gif', 'Cross-Origin-Resource-Policy': 'cross-origin' };
    return new Response(gif, { headers: { ...headersOf(exchange), ...image } });
  };
