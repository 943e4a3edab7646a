/** logEvent by GET, as an image does it: in a mail that is opened, in a page without scripts. */
import { emptyAnswer, headersOf } from './answers.ts';
import type { Answering } from './caller.ts';
import { type Reply, successAnswer } from './operation-route.ts';
import { logsNothing } from './prefetch.ts';

/** One transparent pixel. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

interface RequestHeaders {
  get(name: string): string | null;
}

// Some browsers send any type (star, slash, star) with an image's request, so Sec-Fetch-Dest counts as well (Fetch Metadata
// Request Headers, section 2.1).
/** Whether a client shows the answer as an image, or has no use for JSON. */
const wantsImage = (headers: RequestHeaders): boolean => {
  const accept = headers.get('accept') || '*/*';
  if (accept.includes('application/json')) return false;
  if (accept.includes('image/') || headers.get('sec-fetch-dest') === 'image') return true;
  return !accept.includes('*/*') && !accept.includes('application/*');
};

/** Answers in JSON, or with an image to whoever asks for one. HEAD, and a prefetch of a GET, log nothing. */
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
