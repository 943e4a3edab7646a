/** The names of the events and attributes that a shared view shows: no others of the catalogues. */
import { attributeIn } from '@firsthand/contract/reports/report';
import type { ListedEntry, Store } from '../../../store/store.ts';
import type { OpenLink } from './shared-reports.ts';

type Asked = OpenLink['view']['report'][number];

/** The kinds of events that a report is about. Those in its filter are not told. */
const eventIDsOf = ({ request: { eventID, step, first, back } }: Asked): string[] => {
  const conditions = [step, first, back].flat() as readonly ({ readonly event?: unknown } | undefined)[];
  return [eventID, ...conditions.map((condition) => condition?.event)].flat().map(String);
};

const attrIDsOf = ({ request: { attrID, by } }: Asked): string[] => [
  ...(typeof attrID === 'string' ? [attrID] : []),
  ...(Array.isArray(by) ? by : []).flatMap((one: string) => attributeIn(one)?.attrID ?? []),
];

/** The entries with these IDs. A merged one has the name of the one that stands for it. */
const named = (listed: readonly ListedEntry[], ids: readonly string[]): ListedEntry[] => {
  const entries = new Map(listed.map((entry) => [entry.id, entry]));
  return listed
    .filter(({ id }) => ids.includes(id))
    .map((entry) => ({ ...(entries.get(entry.mergedInto ?? entry.id) ?? entry), id: entry.id }));
};

export const namesIn = async (store: Pick<Store, 'listCatalogue'>, opened: OpenLink) => {
  const { account } = opened.link;
  const { report } = opened.view;
  const events = named(await store.listCatalogue({ account, kind: 'event' }), report.flatMap(eventIDsOf));
  const attributes = named(await store.listCatalogue({ account, kind: 'attr' }), report.flatMap(attrIDsOf));
  return {
    event: events.map(({ id, name }) => ({ eventID: Number(id), eventName: name })),
    attr: attributes.map(({ id, name, type }) => ({ attrID: id, attrName: name, attrType: type })),
  };
};
