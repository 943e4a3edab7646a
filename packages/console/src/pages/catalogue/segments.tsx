/** The saved segments, each with its filter in words and a link to its people. */
import type { ResponseFor } from '@firsthand/client';
import { hrefOf } from '../../address.ts';
import { api, problemOf } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { FilterButton } from '../../parts/filter-button.tsx';
import { act } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { EmptyState, RelativeTime } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { canEdit } from '../../reading/account.ts';
import { type Condition, describeCondition } from '../../reading/filter.ts';
import { clearFetchCache, useFetch } from '../../reading/use-fetch.ts';

type Segment = ResponseFor<'listSegments'>['segment'][number];

const wordsOf = ({ filter }: Segment): string => describeCondition(filter as Condition);

/** Links to the people in the segment, without the other conditions of the current filter. */
const hrefOfPeople = ({ segmentName }: Segment): string =>
  hrefOf('people', { list: 'everybody', filter: JSON.stringify([{ segment: segmentName }]) });

const deleteSegment = ({ segmentName, filter }: Segment, refresh: () => void) =>
  act(() => api.deleteSegment({ segmentName }), {
    done: `Deleted the segment “${segmentName}”. Reports that use it will fail.`,
    undo: () => api.createSegment({ segmentName, filter }),
    refresh,
  });

/** Saves a different filter under the same name. Returns the error message; '' if the filter was saved. */
const save = async ({ segmentName, filter }: Segment, next: Condition, refresh: () => void): Promise<string> => {
  const attempt = api.createSegment({ segmentName, filter: next });
  const rejection = await problemOf(attempt);
  if (rejection === '')
    await act(() => attempt, {
      done: `Saved the segment “${segmentName}”.`,
      undo: () => api.createSegment({ segmentName, filter }),
      refresh,
    });
  return rejection;
};

export const Segments = ({ text }: { readonly text: string }) => {
  const response = useFetch('segments', (signal) => api.listSegments({}, { signal }));
  const refresh = () => {
    // Clears cached reports that use the segment.
    clearFetchCache();
    response.reload();
  };
  const searchText = text.toLowerCase();
  const all = response.value?.segment ?? [];
  const matches = all.filter(
    (segment) =>
      segment.segmentName.toLowerCase().includes(searchText) || wordsOf(segment).toLowerCase().includes(searchText),
  );
  const read = () =>
    toFile(
      ['name', 'filter', 'filter as JSON', 'created', 'updated'],
      matches.map((segment) => [
        segment.segmentName,
        wordsOf(segment),
        JSON.stringify(segment.filter),
        segment.createdTime,
        segment.updatedTime,
      ]),
    );
  const tools = (
    <>
      <SearchBox label="Name or condition" />
      <SaveFile title="Segments" read={read} />
    </>
  );
  const rowOf = (segment: Segment) => ({
    key: segment.segmentName,
    cells: [
      <a key="name" href={hrefOfPeople(segment)} title={`Show the people in ${segment.segmentName}`}>
        {segment.segmentName}
      </a>,
      wordsOf(segment),
      <RelativeTime key="updated" time={segment.updatedTime} />,
      canEdit.value && (
        <span key="actions">
          <FilterButton
            segment={{
              name: segment.segmentName,
              filter: segment.filter as Condition,
              save: (next) => save(segment, next, refresh),
            }}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Delete ${segment.segmentName}`}
            onClick={() => deleteSegment(segment, refresh)}
          >
            Delete
          </button>
        </span>
      ),
    ],
  });
  return (
    <Card title={response.value ? `Segments · ${all.length}` : 'Segments'} tools={tools} class="list">
      <ResponseView response={response} lines={5}>
        {() =>
          matches.length > 0 ? (
            <Table label="Segments" headers={['Name', 'Filter', 'Saved', '']} rows={matches.map(rowOf)} />
          ) : (
            <EmptyState title={all.length > 0 ? 'No segment has this name or condition' : 'No segments yet'}>
              <p class="soft">
                {all.length > 0
                  ? 'Try a different search.'
                  : 'A segment is a saved filter. Click values in the overview, then choose “Save as a segment”.'}
              </p>
            </EmptyState>
          )
        }
      </ResponseView>
    </Card>
  );
};
