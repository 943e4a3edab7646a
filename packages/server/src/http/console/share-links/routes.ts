/** Serves a share link's page and data. Nothing here reads a cookie or a token. */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import type { Store } from '../../../store/store.ts';
import type { AddressOf } from '../../access/client-address.ts';
import { createRateLimit, type Rate } from '../../access/rate-limits.ts';
import { pageHeaders } from '../../built-pages.ts';
import type { Admit } from '../../request/admission.ts';
import { type RequestFields, readInput } from '../../request/input.ts';
import type { BudgetOf } from '../../request/parsing-budget.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { type Exchange, headersOf, jsonResponse, type ResponseHeaders } from '../../responses/responses.ts';
import type { Route } from '../../routes.ts';
import { simplePage } from '../../simple-page.ts';
import { withoutAddresses } from './hidden-addresses.ts';
import {
  createSharedReports,
  isUnknownShareLink,
  type OpenLink,
  type Dependencies as SharedReportsDependencies,
  shareRate,
} from './shared-reports.ts';
import { findShownNames } from './view-names.ts';

interface Dependencies {
  readonly store: Pick<Store, 'listCatalogue'> & SharedReportsDependencies['store'];
  readonly handlers: SharedReportsDependencies['handlers'];
  /** How often an address may send wrong secrets. */
  readonly unknownTokenRate: Rate;
  readonly addressOf: AddressOf;
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  /** The console page, adapted to an address one level deeper; undefined if no console is served. */
  readonly page: string | undefined;
  readonly now: () => number;
}

/** Keeps the page out of search engines and caches. Otherwise, caches could serve it after the link is revoked. */
const privateHeaders: ResponseHeaders = { 'X-Robots-Tag': 'noindex, nofollow', 'Cache-Control': 'no-store' };

const endedPage = { title: 'This link is no longer valid', text: 'Ask the person who sent it for a new one.' };

const html = (exchange: Exchange, status: number, page: string, more: ResponseHeaders): Response =>
  new Response(page, { status, headers: { ...headersOf(exchange), ...more, ...privateHeaders } });

/** Adapts the built console page to an address one level deeper, without the site's script tag. */
export const toSharedPage = (page: string): string =>
  page.replaceAll('"assets/', '"../assets/').replace('{firsthand:script-tag}', '');

export const createSharedRoutes = ({
  store,
  handlers,
  unknownTokenRate,
  addressOf,
  admit,
  budgetOf,
  page,
  now,
}: Dependencies): readonly { readonly path: string; readonly route: Route }[] => {
  const name = 'shared';
  const shared = createSharedReports({
    ...{ store, handlers, now },
    unknownSecrets: createRateLimit(unknownTokenRate),
    requestsOfAddress: createRateLimit(shareRate),
  });

  const show = async (opened: OpenLink): Promise<object> => {
    const { link, view } = opened;
    return {
      // The name is not hidden, because its author wrote it for the people who open the link.
      shareName: link.shareName,
      viewPage: link.page,
      // The reports' own time zone, because the account's might have changed in the meantime.
      timezone: view.report[0]?.request.timezone ?? link.accountTimezone,
      currency: link.accountCurrency,
      expiresTime: isoTime(link.expiresTime),
      report: view.report.map(({ part, operation }) => ({ part, operation })),
      ...withoutAddresses({ viewQuery: view.query, ...(await findShownNames(store, opened)) }),
    };
  };

  const post = (path: string, handle: (opened: OpenLink, fields: RequestFields) => Promise<object>) => ({
    path,
    route: {
      name,
      methods: ['POST'],
      handle: (c, exchange) =>
        admit(c, async (source) => {
          const fields = await readInput(c.req.raw, limits.bodyBytes, source, budgetOf(c));
          const opened = await shared.open(fields.shareSecret, addressOf(c));
          shared.noteUse(opened.link);
          return jsonResponse(exchange, { ...(await handle(opened, fields)), status: '200' }, privateHeaders);
        }),
    } satisfies Route,
  });

  const showPage = async (c: Context, exchange: Exchange, sharedPage: string): Promise<Response> => {
    try {
      await shared.open(c.req.param('shareSecret'), addressOf(c));
    } catch (error) {
      if (!isUnknownShareLink(error)) throw error;
      return simplePage(exchange, 404, endedPage);
    }
    return html(exchange, 200, sharedPage, pageHeaders);
  };

  return [
    post('/console/shared', show),
    post('/console/shared/report', (opened, { part }) => shared.report(opened, part)),
    ...(page === undefined
      ? []
      : [
          {
            path: '/console/shared/:shareSecret',
            route: {
              name,
              methods: ['GET'],
              loggedPath: '/console/shared/…',
              handle: (c, exchange) => showPage(c, exchange, page),
            } satisfies Route,
          },
        ]),
  ];
};
