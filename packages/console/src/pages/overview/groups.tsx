/** The people in the range by page, source, event, tag, device and place. */
import type { RequestFor, ResponseFor } from '@firsthand/client';
import { type Changes, hrefOf } from '../../address.ts';
import { Bars } from '../../parts/bars.tsx';
import { Card, ResponseView } from '../../parts/card.tsx';
import { Overlap } from '../../parts/overlap.tsx';
import { SaveBreakdown } from '../../parts/save-counts.tsx';
import { chosenTab, Tabs } from '../../parts/tabs.tsx';
import { nameOf, timezone } from '../../reading/account.ts';
import {
  type Condition,
  cameFrom,
  cameFromSite,
  conditions,
  filterWith,
  hrefToAdd,
  type TimeSpan,
  valueName,
} from '../../reading/filter.ts';
import { range } from '../../reading/range.ts';
import { useReport } from '../../reading/report.ts';
import { isShared, showsPart } from '../../reading/shared.ts';
import { getMissingValueLabel } from '../../reading/without-value.ts';

interface Tab {
  readonly title: string;
  /** The header of the first column, if it differs from the title. */
  readonly header?: string;
  /** The `by` field of a reportBreakdown request. */
  readonly by: string;
  /** Counts only events that match this condition. */
  readonly only?: Condition;
  readonly label?: (value: string) => string;
  /** The condition that a click adds. */
  readonly condition?: (value: string, during: TimeSpan) => Condition;
  /** Whether the values have a natural order. If so, all of them are shown in that order. */
  readonly isOrdered?: boolean;
}

const attribute = (title: string, attrID: string): Tab => ({
  title,
  by: `attr:${attrID}`,
  only: { attrID, exists: true },
  condition: (value) => ({ attrID, is: [value] }),
  label: (value) => valueName(attrID, value),
});

/**
 * A source of visits. Only a visit's first event has this attribute, so a click filters for everything these people
 * did: a filter for the event alone would hide their purchases.
 */
const origin = (title: string, header: string, attrID: string): Tab => ({
  title,
  header: `${header} of the visit`,
  by: `first:${attrID}`,
  condition: cameFrom(attrID),
});

const withPath: Condition = { attrID: 'path', exists: true };

const cards: Readonly<Record<string, { readonly title: string; readonly tabs: Readonly<Record<string, Tab>> }>> = {
  pages: {
    title: 'Pages',
    tabs: {
      all: { ...attribute('All', 'path'), header: 'Pages' },
      entry: { title: 'Entry', header: 'Entry pages', by: 'entryPage', only: withPath },
      exit: { title: 'Exit', header: 'Exit pages', by: 'exitPage', only: withPath },
    },
  },
  sources: {
    title: 'Sources',
    tabs: {
      referrers: {
        title: 'Referrers',
        header: 'Visit’s referring site',
        by: 'entryReferrerHost',
        condition: cameFromSite,
      },
      campaigns: origin('Campaigns', 'Campaign', 'utm_campaign'),
      sources: origin('Sources', 'Source', 'utm_source'),
      media: origin('Mediums', 'Medium', 'utm_medium'),
      first: {
        title: 'First campaign',
        header: 'Person’s first campaign',
        by: 'person:first:utm_campaign',
        condition: (value) => ({ personFirst: 'utm_campaign', is: [value] }),
      },
    },
  },
  events: {
    title: 'Events',
    tabs: {
      kinds: {
        title: 'Events',
        by: 'event',
        label: (value) => nameOf('event', value),
        // Matches all events of the people who did the event: the event itself may lack values. For example, a purchase
        // has no campaign.
        condition: (value, during) => ({ did: { event: [Number(value)], ...during } }),
      },
    },
  },
  people: {
    title: 'Tags and profiles',
    tabs: {
      tags: {
        title: 'Tags',
        by: 'contactTagID',
        label: (value) => nameOf('tag', value),
        condition: (value) => ({ contact: { contactTagID: value } }),
      },
      profiles: {
        title: 'Profiles',
        by: 'contactProfileID',
        label: (value) => nameOf('profile', value),
        condition: (value) => ({ contact: { contactProfileID: value } }),
      },
    },
  },
  devices: {
    title: 'Devices',
    tabs: {
      device: attribute('Device types', '$device'),
      browser: attribute('Browsers', '$browser'),
      os: attribute('Systems', '$os'),
    },
  },
  places: {
    title: 'Places and times',
    tabs: {
      country: attribute('Countries', '$country'),
      hour: { title: 'Hours', by: 'hour', label: (value) => `${value}:00`, isOrdered: true },
    },
  },
};

const fewRows = 8;
const hoursOfDay = 24;

/** Links to all of a list's rows, with the same date range and filter. */
const hrefOfRows = ({ by, only, condition }: Tab, shown: Changes): string => {
  // Entry and exit pages get no such filter, because they describe whole visits: without a visit's other events, more
  // visits would look like bounces.
  const filter = only && condition && JSON.stringify([...conditions.value, only]);
  return hrefOf('events', { by, ...shown, ...(filter && { filter }) });
};
const hrefOfAll = (tab: Tab): string | undefined => (isShared ? undefined : hrefOfRows(tab, { rows: 'all' }));
const hrefOfPeople = (tab: Tab, value: string): string => hrefOfRows(tab, { who: JSON.stringify({ value: [value] }) });

type Row = ResponseFor<'reportBreakdown'>['row'][number];
const valueIn = ({ values }: Row): string | null => values[0] ?? null;

const Group = ({
  id,
  title,
  tabs,
}: {
  readonly id: string;
  readonly title: string;
  readonly tabs: Readonly<Record<string, Tab>>;
}) => {
  const { from, to } = range.value;
  const titles = Object.fromEntries(Object.entries(tabs).map(([name, tab]) => [name, tab.title]));
  const tab = tabs[chosenTab({ parameter: id, tabs: titles })] as Tab;
  const { by, only, label = String, condition, header = tab.title, isOrdered } = tab;
  const limit = isOrdered ? hoursOfDay : fewRows;
  const csvRequest = {
    by: by as RequestFor<'reportBreakdown'>['by'],
    from,
    to,
    filter: only ? filterWith(only) : filterWith(),
    timezone: timezone.value,
  };
  const response = useReport({
    part: id,
    title: title === tab.title ? title : `${title}: ${tab.title}`,
    operation: 'reportBreakdown',
    request: { ...csvRequest, limit },
  });
  const textOf = (row: Row) => {
    const value = valueIn(row);
    return value === null ? getMissingValueLabel(by) : (row.eventName ?? label(value));
  };
  const during = { from: response.value?.from, ...(to !== undefined && { to: response.value?.to }) };
  const barOf = (row: Row) => {
    const value = valueIn(row);
    const text = textOf(row);
    return {
      key: JSON.stringify(value),
      label: text,
      count: row.people,
      isRest: value === null,
      ...(value !== null &&
        !isShared &&
        (condition
          ? { href: hrefToAdd(condition(value, during)), hint: `Only ${text}` }
          : // No filter can express it: link to the people instead.
            { href: hrefOfPeople(tab, value), hint: `Show the people: ${text}` })),
    };
  };
  const tools = (
    <>
      {Object.keys(titles).length > 1 && <Tabs parameter={id} tabs={titles} label={title} />}
      <SaveBreakdown title={title} header={header} request={csvRequest} value={response.value} textOf={textOf} />
    </>
  );
  return (
    <Card title={title} tools={tools} class="group">
      <ResponseView response={response} lines={fewRows}>
        {({ row, total, others }) => (
          <>
            <Bars
              header={header}
              unit="People"
              total={total.people}
              bars={(isOrdered ? row.toSorted((a, b) => Number(valueIn(a)) - Number(valueIn(b))) : row).map(barOf)}
              others={others && { groups: others.groups, count: others.people, href: hrefOfAll(tab) }}
            />
            <Overlap rows={row} others={others} total={total} />
          </>
        )}
      </ResponseView>
    </Card>
  );
};

export const Groups = () => (
  <>{Object.entries(cards).map(([id, card]) => showsPart(id) && <Group key={id} id={id} {...card} />)}</>
);
