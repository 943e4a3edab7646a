/** Looks up the names of only those events and attributes that a shared view shows. */
import { parseAttributeDimension } from '@firsthand/contract/reports/report';
import type { ListedEntry, Store } from '../../../store/store.ts';
import type { OpenLink } from './shared-reports.ts';

type ViewReport = OpenLink['view']['report'][number];

/** Returns the eventIDs that a report shows, excluding those in its filter. */
const eventIDsOf = ({ request: { eventID, step, first, back } }: ViewReport): string[] => {
  const conditions = [step, first, back].flat() as readonly ({ readonly event?: unknown } | undefined)[];
  return [eventID, ...conditions.map((condition) => condition?.event)].flat().map(String);
};

const attrIDsOf = ({ request: { attrID, by } }: ViewReport): string[] => [
  ...(typeof attrID === 'string' ? [attrID] : []),
  ...(Array.isArray(by) ? by : []).flatMap((one: string) => parseAttributeDimension(one)?.attrID ?? []),
];

/** Returns the entries with these IDs. A merged entry gets the name of the entry that it was merged into. */
const searchEntries = (listed: readonly ListedEntry[], ids: readonly string[]): ListedEntry[] => {
  const entries = new Map(listed.map((entry) => [entry.id, entry]));
  return listed
    .filter(({ id }) => ids.includes(id))
    .map((entry) => ({ ...(entries.get(entry.mergedInto ?? entry.id) ?? entry), id: entry.id }));
};

export const findShownNames = async (store: Pick<Store, 'listCatalogue'>, opened: OpenLink) => {
  const { account } = opened.link;
  const { report } = opened.view;
  const events = searchEntries(await store.listCatalogue({ account, kind: 'event' }), report.flatMap(eventIDsOf));
  const attributes = searchEntries(await store.listCatalogue({ account, kind: 'attr' }), report.flatMap(attrIDsOf));
  return {
    event: events.map(({ id, name }) => ({ eventID: Number(id), eventName: name })),
    attr: attributes.map(({ id, name, type }) => ({ attrID: id, attrName: name, attrType: type })),
  };
};
