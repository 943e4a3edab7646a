/** A server that refuses what the pages of the console ask, as one does whose reports are starting and whose disk is full. */
import { errors } from '@firsthand/contract/errors';
import type { Page } from 'playwright-core';

/** Read before anything is shown. */
const opening = '/account/getAccount';

/** Refuses each request to the API but the first one of a page. */
export const refuseRequests = (page: Page): Promise<unknown> =>
  page.route(
    ({ pathname }) => !pathname.startsWith('/console/') && pathname !== opening,
    (route) => {
      const isReport = new URL(route.request().url()).pathname.startsWith('/report/');
      const code = isReport ? 'no_reports' : 'internal';
      const { status, when } = errors[code];
      return route.fulfill({
        status,
        headers: { 'retry-after': '1' },
        json: { status: String(status), error: { code, message: when }, requestID: 'the-id-of-this-request' },
      });
    },
  );
