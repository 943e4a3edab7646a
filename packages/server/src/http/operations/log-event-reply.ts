/** Responses to logEvent. A GET for an image, as from an e-mail or a page without scripts, gets an image. */

import type { Answering } from '../access/caller.ts';
import { headersOf } from '../answers/answers.ts';
import { type Reply, successAnswer } from '../operation-route.ts';
import type { Traffic } from '../traffic.ts';

/** A GIF of one transparent pixel. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/**
 * Whether a client wants an image, or does not accept JSON. Some browsers accept any type when they request an image, so
 * Sec-Fetch-Dest counts as well (Fetch Metadata Request Headers, section 2.1).
 */
const wantsImage = (headers: Headers): boolean => {
  const accept = headers.get('accept') || '*/*';
  if (accept.includes('application/json')) return false;
  if (accept.includes('image/') || headers.get('sec-fetch-dest') === 'image') return true;
  return !accept.includes('*/*') && !accept.includes('application/*');
};

export const createLogEventReply =
  (logEvent: Answering<'logEvent'>, { numbers }: Traffic): Reply<'logEvent'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const { method, headers } = c.req.raw;
    const answer = await logEvent(input, caller);
    if (answer.duplicate) numbers.duplicates += 1;
    else numbers.kept += 1;
    if (method !== 'GET' || !wantsImage(headers)) return successAnswer(exchange, answer, ignored);
    const image = { 'Content-Type': 'image/gif', 'Cross-Origin-Resource-Policy': 'cross-origin' };
    return new Response(gif, { headers: { ...headersOf(exchange), ...image } });
  };
