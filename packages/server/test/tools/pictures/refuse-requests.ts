/** Simulates a server that refuses the console's requests, as if reports were still starting and the disk were full. */
import { errors } from '@firsthand/contract/errors';
import type { Page } from 'playwright-core';

/** The request without which the console shows nothing. */
const opening = '/account/getAccount';

/** Refuses every request to the API, except getAccount. */
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
