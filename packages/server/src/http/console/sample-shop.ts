/** Handles sample shop requests, which work only on the server's own machine. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { isLocal } from '../access/loopback.ts';
import { type Exchange, jsonResponse } from '../responses/responses.ts';
import type { PageSessions } from './page-sessions.ts';
import type { Sessions } from './sessions.ts';

/** Fills and removes the sample shop, for trying out a server. */
export interface SampleShop {
  /** Creates and fills the shop unless it exists; resolves with its account. */
  fill(): Promise<number>;
  /** Returns how much of the shop has been populated; undefined unless that is in progress. */
  progress(): { readonly events: number; readonly of: number } | undefined;
  isShop(accountUUID: string): boolean;
  /** Whether the database has the shop, even if only partly filled. */
  exists(): Promise<boolean>;
  remove(): Promise<void>;
}

/** Throws a Refusal for a visitor on another machine. */
const checkLocal = (c: Context): void => {
  if (isLocal(c)) return;
  throw new Refusal('origin_not_allowed', { message: "this works only in a browser on the server's own machine" });
};

interface Dependencies {
  readonly shop: SampleShop;
  readonly sessions: Pick<Sessions, 'ofBrowser' | 'describe'>;
  readonly pageSessions: Pick<PageSessions, 'respondWith' | 'ofPage' | 'signInAs'>;
}

export const createSampleShopHandlers = ({ shop, sessions, pageSessions }: Dependencies) => ({
  /** Returns whether the shop exists, and its accountUUID if one of these sessions is signed in to it, otherwise ''. */
  describe: async (summaries: readonly { readonly accountUUID: string }[]) => ({
    accountUUID: summaries.find(({ accountUUID }) => shop.isShop(accountUUID))?.accountUUID ?? '',
    exists: await shop.exists(),
  }),

  /** Fills the sample shop and signs in to it. */
  async open(c: Context, exchange: Exchange): Promise<Response> {
    checkLocal(c);
    const account = await shop.fill();
    return pageSessions.signInAs(c, exchange, [{ kind: 'server', account, token: null, tokenID: null }]);
  },

  async progress(c: Context, exchange: Exchange): Promise<Response> {
    checkLocal(c);
    return jsonResponse(exchange, { progress: shop.progress() ?? null, status: '200' });
  },

  async remove(c: Context, exchange: Exchange): Promise<Response> {
    checkLocal(c);
    const { access } = await pageSessions.ofPage(c);
    const [summary] = await sessions.describe([access]);
    if (!summary || !shop.isShop(summary.accountUUID)) {
      throw new Refusal('unknown_account', { message: "this session's account is not the sample shop" });
    }
    if (access.kind !== 'server') {
      throw new Refusal('token_kind', { message: 'only an owner of the sample shop can remove it' });
    }
    const open = await sessions.ofBrowser(c);
    await shop.remove();
    return pageSessions.respondWith(
      c,
      exchange,
      open.filter((each) => each.access.account !== access.account),
    );
  },
});
