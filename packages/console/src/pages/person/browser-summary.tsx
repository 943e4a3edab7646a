/** A summary of a browser from its events: name, country, and when it was first and last seen. */
import { api } from '../../api.ts';
import { RelativeTime } from '../../parts/small.tsx';
import { browserIn, labelIn } from '../../reading/browser.ts';
import { formatCountry, formatTime } from '../../reading/format.ts';
import { useFetch } from '../../reading/use-fetch.ts';

/** How many events to search for labels: the newest events may come from the site's server, which sends no labels. */
const newest = 20;

const read = async (userUUID: string, signal: AbortSignal) => {
  const [last, first] = await Promise.all([
    api.getEvent({ userUUID, limit: newest }, { signal }),
    api.getEvent({ userUUID, limit: 1, order: 'asc' }, { signal }),
  ]);
  const attributes = last.event.flatMap(({ eventAttrArray }) => eventAttrArray);
  return {
    name: browserIn(attributes),
    country: labelIn(attributes, '$country'),
    firstTime: first.event[0]?.eventTime,
    lastTime: last.event[0]?.eventTime,
    /** The contact that the newest event belongs to; '' or undefined if anonymous. */
    contactUUID: last.event[0]?.contactUUID,
  };
};
type BrowserSummary = Awaited<ReturnType<typeof read>>;

/** Returns undefined while the summary is loading or if loading fails. */
export const useBrowserSummary = (userUUID: string): BrowserSummary | undefined =>
  useFetch(`browser ${userUUID}`, (signal) => read(userUUID, signal)).value;

export const BrowserSummaryLine = ({ summary }: { readonly summary: BrowserSummary | undefined }) => {
  if (!summary) return <>…</>;
  const { country, firstTime, lastTime } = summary;
  if (firstTime === undefined || lastTime === undefined) return <>no events stored</>;
  return (
    <>
      {country && `${formatCountry(country)} · `}
      first seen <time dateTime={firstTime}>{formatTime(firstTime, 'day')}</time>, last seen{' '}
      <RelativeTime time={lastTime} />
    </>
  );
};
