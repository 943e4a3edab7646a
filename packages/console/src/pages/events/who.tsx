/** The people behind a number of a report, in a dialog. The address says which number, in the parameter `who`. */
import type { RequestFor } from '@firsthand/client';
import { hrefWith, query, setQuery } from '../../address.ts';
import { api } from '../../api.ts';
import { Answered } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SaveCSV } from '../../parts/save-csv.tsx';
import { Ago, Empty } from '../../parts/small.tsx';
import { formatWhole } from '../../reading/format.ts';
import { usePages } from '../../reading/pages.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { isShared } from '../../reading/shared.ts';
import { PeopleTable } from '../people/people-table.tsx';

export type PeopleRequest = RequestFor<'reportPeople'>;

/** The fields of reportPeople that choose a number of the report that is seen. */
export interface ChosenNumber {
  /** The values of a row of the breakdown. */
  readonly value?: readonly (string | null)[];
  /** Steps of the funnel; the first is 1. */
  readonly reached?: number;
  readonly dropped?: number;
  /** A period of the retention; the first is 1. */
  readonly cohort?: number;
  readonly later?: number;
}

/** The number whose people the address asks for. undefined: none. `{}` is the total of the report. */
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
  /** What is counted, for a screen reader. */
  readonly label: string;
  /** The text of the link; the count if absent. */
  readonly text?: string;
}

/** A number that opens the people behind it. */
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

interface WhoProps {
  readonly title: string;
  readonly request: PeopleRequest;
}

export const Who = ({ title, request }: WhoProps) => {
  const { answer, more } = usePages(`who ${JSON.stringify(request)}`, async (cursor, signal) => {
    const { person, nextCursor } = await api.reportPeople({ ...request, limit, cursor }, { signal });
    return { entries: person, nextCursor };
  });
  return (
    <Dialog title={title} close={() => setQuery({ who: null })} class="who">
      <Answered answer={answer}>
        {(people) =>
          people.length === 0 ? (
            <Empty title="No people" />
          ) : (
            <PeopleTable
              heads={['Events', 'Last']}
              more={more}
              rows={people.map((person) => ({
                id: person.contactUUID || person.userUUID,
                name: nameOfPerson(person),
                detail: person.contactEmailaddress,
                isAnonymous: person.contactUUID === '',
                cells: [formatWhole(person.events), <Ago key="last" time={person.lastTime} />],
              }))}
            />
          )
        }
      </Answered>
      <p class="dialog-actions">
        <SaveCSV title={title} operation="reportPeople" request={request} />
        <button type="button" onClick={() => setQuery({ who: null })}>
          Close
        </button>
      </p>
    </Dialog>
  );
};
