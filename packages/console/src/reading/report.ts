/** Reports of a page, each with the part of the page that shows it. */
import type { AnswerFor, RequestFor } from '@firsthand/client';
import { useEffect } from 'preact/hooks';
import { api } from '../api.ts';
import { type Answer, useAnswer } from './answer.ts';
import { isShared, readSharedReport } from './shared.ts';

type ReportName = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';

export interface ShownReport {
  readonly part: string;
  readonly title: string;
  readonly operation: ReportName;
  readonly request: RequestFor<ReportName>;
}

/** The first report of an account is slow: its files are built before it. */
export const slowReports = 'Preparing the reports of this account …';

const shown = new Map<string, ShownReport>();

/** The reports that the page shows now. */
export const shownReports = (): readonly ShownReport[] => [...shown.values()];

interface Asked<Name extends ReportName> {
  /** The place in the page; no two reports of a page have the same. */
  readonly part: string;
  /** What the report shows. */
  readonly title: string;
  readonly operation: Name;
  readonly request: RequestFor<Name>;
}

/** The answer to a report. In the page of a share link it is that of the stored report of this part, whatever the request is. */
export const useReport = <Name extends ReportName>({
  part,
  title,
  operation,
  request,
}: Asked<Name>): Answer<AnswerFor<Name>> => {
  const question = isShared ? `shared ${part}` : `${operation} ${JSON.stringify(request)}`;
  useEffect(() => {
    const report: ShownReport = { part, title, operation, request };
    shown.set(part, report);
    return () => {
      if (shown.get(part) === report) shown.delete(part);
    };
  }, [part, title, question]);
  // The operation decides the types of its request and its answer.
  const call = api[operation] as unknown as (
    request: RequestFor<Name>,
    options: { readonly signal: AbortSignal },
  ) => Promise<AnswerFor<Name>>;
  return useAnswer(question, (signal) =>
    isShared ? (readSharedReport(part, signal) as Promise<AnswerFor<Name>>) : call(request, { signal }),
  );
};
