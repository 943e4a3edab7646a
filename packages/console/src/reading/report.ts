/** The current page's reports, by the part of the page that shows them. */
import type { RequestFor, ResponseFor } from '@firsthand/client';
import { useEffect } from 'preact/hooks';
import { api } from '../api.ts';
import { isShared, readSharedReport } from './shared.ts';
import { type FetchState, useFetch } from './use-fetch.ts';

type ReportName = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';

export interface PageReport {
  readonly part: string;
  readonly title: string;
  readonly operation: ReportName;
  readonly request: RequestFor<ReportName>;
}

/** An account's first report is slow, because it builds the report files. */
export const slowReports = 'Preparing this account’s reports…';

const reports = new Map<string, PageReport>();

/** The reports that the page currently shows. */
export const listReports = (): readonly PageReport[] => [...reports.values()];

interface ReportOptions<Name extends ReportName> {
  /** The part of the page, unique per report. */
  readonly part: string;
  readonly title: string;
  readonly operation: Name;
  readonly request: RequestFor<Name>;
}

/**
 * A report's response. On a share link's page, the request is ignored and the stored report of this part is returned.
 */
export const useReport = <Name extends ReportName>({
  part,
  title,
  operation,
  request,
}: ReportOptions<Name>): FetchState<ResponseFor<Name>> => {
  const key = isShared ? `shared ${part}` : `${operation} ${JSON.stringify(request)}`;
  useEffect(() => {
    const report: PageReport = { part, title, operation, request };
    reports.set(part, report);
    return () => {
      if (reports.get(part) === report) reports.delete(part);
    };
  }, [part, title, key]);
  // TypeScript can't correlate the operation with its request and response types.
  const call = api[operation] as unknown as (
    request: RequestFor<Name>,
    options: { readonly signal: AbortSignal },
  ) => Promise<ResponseFor<Name>>;
  return useFetch(key, (signal) =>
    isShared ? (readSharedReport(part, signal) as Promise<ResponseFor<Name>>) : call(request, { signal }),
  );
};
