/** Choosing a saved segment, and saving the filter as a segment. */
import { useState } from 'preact/hooks';
import { go } from '../address.ts';
import { api, problemOf } from '../api.ts';
import { canEdit } from '../reading/account.ts';
import { conditions, filterWith, hrefWithFilter } from '../reading/filter.ts';
import { clearFetchCache, useFetch } from '../reading/use-fetch.ts';
import { DialogForm } from './dialog-form.tsx';
import { Field } from './field.tsx';
import { FilterButton } from './filter-button.tsx';
import { act } from './notices.tsx';

const SaveDialog = ({ close }: { readonly close: () => void }) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const save = async () => {
    const segmentName = name.trim();
    const filter = filterWith();
    if (filter === undefined) return;
    const attempt = api.createSegment({ segmentName, filter });
    const rejection = await problemOf(attempt);
    if (rejection) return setProblem(rejection);
    close();
    await act(() => attempt, { done: `Saved the segment “${segmentName}”.`, refresh: clearFetchCache });
    go(hrefWithFilter([{ segment: segmentName }]));
  };
  return (
    <DialogForm title="Save as a segment" close={close} action="Save" submit={save} problem={problem}>
      <Field label="Name" hint="If a segment with this name exists, its filter is replaced.">
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={255}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
};

/** Offers to save the current filter, unless it is just a segment. */
export const SaveSegment = () => {
  const [isOpen, setOpen] = useState(false);
  const isSegment = conditions.value.length === 1 && conditions.value[0]?.segment !== undefined;
  if (isSegment || !canEdit.value) return null;
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Save as a segment…
      </button>
      {isOpen && <SaveDialog close={() => setOpen(false)} />}
    </>
  );
};

/**
 * Chooses the segment in the filter. Rendered even before the segments have loaded, so that the layout does not shift.
 */
export const SegmentChoice = () => {
  const { value } = useFetch('segments', (signal) => api.listSegments({}, { signal }));
  const chosen = conditions.value.find(({ segment }) => segment !== undefined);
  const others = conditions.value.filter((each) => each !== chosen);
  const chosenName = String(chosen?.segment ?? '');
  // Includes the chosen segment even before the list has loaded, and after the segment was deleted.
  const names = new Set([
    ...(value?.segment ?? []).map(({ segmentName }) => segmentName),
    ...(chosen ? [chosenName] : []),
  ]);
  const choose = (segment: string) => go(hrefWithFilter(segment === '' ? others : [...others, { segment }]));
  return (
    <>
      <FilterButton />
      <select
        aria-label="Segment"
        title={chosenName || undefined}
        value={chosenName}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{chosen ? 'No segment' : value && names.size === 0 ? 'No segments' : 'Segment…'}</option>
        {[...names].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
};
