/** The saved segments, in words, with a link to the people of each. */
import type { AnswerFor } from '@firsthand/client';
import { hrefOf } from '../../address.ts';
import { api, problemOf } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { FilterButton } from '../../parts/filter-button.tsx';
import { act } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Ago, Empty } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { mayChange } from '../../reading/account.ts';
import { forgetAnswers, useAnswer } from '../../reading/answer.ts';
import { type Condition, inWords } from '../../reading/filter.ts';

type Segment = AnswerFor<'listSegments'>['segment'][number];

const wordsOf = ({ filter }: Segment): string => inWords(filter as Condition);

/** The people of a segment alone: other conditions are left behind. */
const hrefOfPeople = ({ segmentName }: Segment): string =>
  hrefOf('people', { list: 'everybody', filter: JSON.stringify([{ segment: segmentName }]) });

const deleteSegment = ({ segmentName, filter }: Segment, after: () => void) =>
  act(() => api.deleteSegment({ segmentName }), {
    done: `Deleted the segment “${segmentName}”. Reports that name it are refused.`,
    undo: () => api.createSegment({ segmentName, filter }),
    after,
  });

/** Saves another filter under the same name. Returns why that is impossible; '' if it is done. */
const save = async ({ segmentName, filter }: Segment, next: Condition, after: () => void): Promise<string> => {
  const attempt = api.createSegment({ segmentName, filter: next });
  const refused = await problemOf(attempt);
  if (refused === '')
    await act(() => attempt, {
      done: `Saved the segment “${segmentName}”.`,
      undo: () => api.createSegment({ segmentName, filter }),
      after,
    });
  return refused;
};

export const Segments = ({ text }: { readonly text: string }) => {
  const answer = useAnswer('segments', (signal) => api.listSegments({}, { signal }));
  const after = () => {
    // Reports of the segment have changed.
    forgetAnswers();
    answer.again();
  };
  const wanted = text.toLowerCase();
  const all = answer.value?.segment ?? [];
  const found = all.filter(
    (segment) => segment.segmentName.toLowerCase().includes(wanted) || wordsOf(segment).toLowerCase().includes(wanted),
  );
  const read = () =>
    toFile(
      ['name', 'filter', 'filter as JSON', 'created', 'updated'],
      found.map((segment) => [
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
      <a key="name" href={hrefOfPeople(segment)} title={`The people of ${segment.segmentName}`}>
        {segment.segmentName}
      </a>,
      wordsOf(segment),
      <Ago key="updated" time={segment.updatedTime} />,
      mayChange.value && (
        <span key="actions">
          <FilterButton
            segment={{
              name: segment.segmentName,
              filter: segment.filter as Condition,
              save: (next) => save(segment, next, after),
            }}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Delete ${segment.segmentName}`}
            onClick={() => deleteSegment(segment, after)}
          >
            Delete
          </button>
        </span>
      ),
    ],
  });
  return (
    <Card title={answer.value ? `Segments · ${all.length}` : 'Segments'} tools={tools} class="list">
      <Answered answer={answer} lines={5}>
        {() =>
          found.length > 0 ? (
            <Table label="Segments" heads={['Name', 'Filter', 'Saved', '']} rows={found.map(rowOf)} />
          ) : (
            <Empty title={all.length > 0 ? 'No segment has this name or condition' : 'No segments yet'}>
              <p class="soft">
                {all.length > 0
                  ? 'Search for another text.'
                  : 'A segment is a saved filter. Click values in the overview, then choose “Save as a segment”.'}
              </p>
            </Empty>
          )
        }
      </Answered>
    </Card>
  );
};
