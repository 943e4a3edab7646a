/** What the events of a browser say of it: which it is, and when it was first and last seen. */
import { api } from '../../api.ts';
import { Ago } from '../../parts/small.tsx';
import { useAnswer } from '../../reading/answer.ts';
import { browserIn, labelIn } from '../../reading/browser.ts';
import { formatCountry, formatTime } from '../../reading/format.ts';

/** The newest events of a browser may be of the site's server, which gives them no labels. */
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
    /** Whose the newest event is: '' or undefined for nobody's. */
    contactUUID: last.event[0]?.contactUUID,
  };
};
type Seen = Awaited<ReturnType<typeof read>>;

/** undefined while it is read, and if it can't be. */
export const useSeen = (userUUID: string): Seen | undefined =>
  useAnswer(`browser ${userUUID}`, (signal) => read(userUUID, signal)).value;

/** The country, and when the browser was seen. */
export const SeenLine = ({ seen }: { readonly seen: Seen | undefined }) => {
  if (!seen) return <>…</>;
  const { country, firstTime, lastTime } = seen;
  if (firstTime === undefined || lastTime === undefined) return <>no event is stored</>;
  return (
    <>
      {country && `${formatCountry(country)} · `}
      first seen <time dateTime={firstTime}>{formatTime(firstTime, 'day')}</time>, last seen <Ago time={lastTime} />
    </>
  );
};
