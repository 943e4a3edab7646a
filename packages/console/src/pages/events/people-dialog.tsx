/** A dialog that lists the people behind a figure in a report. The URL parameter `who` identifies the figure. */
import type { RequestFor } from '@firsthand/client';
import { hrefWith, query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { ResponseView } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { EmptyState, RelativeTime } from '../../parts/small.tsx';
import { formatWhole } from '../../reading/format.ts';
import { usePagination } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { isShared } from '../../reading/shared.ts';
import { PeopleTable } from '../people/people-table.tsx';

export type PeopleRequest = RequestFor<'reportPeople'>;

/** The fields of reportPeople that identify a figure in the current report. */
export interface ChosenNumber {
  /** The values of a row in the breakdown. */
  readonly value?: readonly (string | null)[];
  /** Steps in the funnel; the first is 1. */
  readonly reached?: number;
  readonly dropped?: number;
  /** A period in the retention report; the first is 1. */
  readonly cohort?: number;
  readonly later?: number;
}

/** The figure that the URL identifies. `{}` is the report's total. */
export const chosenNumber = (): ChosenNumber | undefined => {
  if (isShared) return undefined;
  try {
    const chosen = JSON.parse(query.value.get('who') ?? 'null');
    return typeof chosen === 'object' && chosen !== null && !Array.isArray(chosen) ? chosen : undefined;
  } catch {
    return undefined;
  }
};

interface NumberLinkProps {
  readonly count: number;
  readonly chosen: ChosenNumber;
  /** What the figure counts, for screen readers. */
  readonly label: string;
  /** Defaults to the count. */
  readonly text?: string;
}

/** A figure that opens the list of people behind it. */
export const NumberLink = ({ count, chosen, label, text = formatWhole(count) }: NumberLinkProps) =>
  count === 0 || isShared ? (
    <span>{text}</span>
  ) : (
    <a class="number-link" href={hrefWith({ who: JSON.stringify(chosen) })} title={`Show the people: ${label}`}>
      {text}
      <span class="unseen"> {label}: show the people</span>
    </a>
  );

const limit = 50;

interface PeopleDialogProps {
  readonly title: string;
  readonly request: PeopleRequest;
}

export const PeopleDialog = ({ title, request }: PeopleDialogProps) => {
  const { response, more } = usePagination(`who ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, limit, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  return (
    <Dialog title={title} close={() => setQuery({ who: null })} class="who">
      <ResponseView response={response}>
        {(people) =>
          people.length === 0 ? (
            <EmptyState title="No people" />
          ) : (
            <PeopleTable
              headers={['Events', 'Last seen']}
              more={more}
              rows={people.map((person) => ({
                id: person.contactUUID || person.userUUID,
                name: nameOfPerson(person),
                detail: person.contactEmailaddress,
                isAnonymous: person.contactUUID === '',
                cells: [formatWhole(person.events), <RelativeTime key="last" time={person.lastTime} />],
              }))}
            />
          )
        }
      </ResponseView>
      <p class="dialog-actions">
        <SaveCSV title={title} operation="reportPeople" request={request} />
        <button type="button" onClick={() => setQuery({ who: null })}>
          Close
        </button>
      </p>
    </Dialog>
  );
};
