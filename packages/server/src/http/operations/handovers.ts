/**
 * createHandover and takeHandover: pass a userUUID in a link between two domains of one customer. Nothing is stored.
 */
import { limits } from '@firsthand/contract/limits';
import { openHandover, sealHandover } from '../../ingest/handover.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import { accountOf, type Caller } from '../access/caller.ts';
import { type Reply, successResponse } from '../operation-route.ts';

/**
 * Whether a request comes from a page on this host. A request without an Origin also passes, because no page sent it.
 */
const isFrom = (host: string, headers: Headers): boolean => {
  const origin = headers.get('origin');
  return origin === null || (URL.canParse(origin) && new URL(origin).host === host);
};

const refuseHost = (field: 'from' | 'to'): never => {
  throw new Refusal('invalid_field', { field, message: `\`${field}\` must be the host of the page's own origin` });
};

export const createHandovers = (
  store: Pick<Store, 'findProofKeys'>,
): { readonly createHandover: Reply<'createHandover'>; readonly takeHandover: Reply<'takeHandover'> } => {
  const secretsFor = (caller: Caller) => store.findProofKeys({ account: accountOf(caller), time: caller.time });
  const userAgentOf = (headers: Headers) => headers.get('user-agent') ?? '';

  return {
    createHandover: async ({ c, exchange, input: { userUUID, from, to }, caller, ignored }) => {
      const { headers } = c.req.raw;
      if (!isFrom(from, headers)) refuseHost('from');
      const [secret] = await secretsFor(caller);
      const userAgent = userAgentOf(headers);
      const seal = (host: string, secret: Uint8Array) =>
        sealHandover(userUUID, { from, to: host, userAgent }, secret, caller.time);
      const handover = secret === undefined ? [] : to.map((host) => ({ to: host, handover: seal(host, secret) }));
      return successResponse(exchange, { handover }, ignored);
    },
    takeHandover: async ({ c, exchange, input: { handover, from, to }, caller, ignored }) => {
      const { headers } = c.req.raw;
      if (!isFrom(to, headers)) refuseHost('to');
      const context = { from, to, userAgent: userAgentOf(headers) };
      const userUUID = openHandover(handover, context, await secretsFor(caller), caller.time);
      if (userUUID !== undefined) return successResponse(exchange, { userUUID }, ignored);
      throw new Refusal('invalid_field', {
        field: 'handover',
        message: `\`handover\` must have been created for this account, these hosts and this browser at most ${limits.handoverSeconds} seconds ago`,
      });
    },
  };
};
