/** The filter builder: the conditions, the filter in words, and the number of people who match. */
import { useEffect, useState } from 'preact/hooks';
import { go } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { timezone } from '../../reading/account.ts';
import {
  type Condition,
  conditions,
  describeCondition,
  type EditedSegment,
  hrefWithFilter,
} from '../../reading/filter.ts';
import { formatWhole } from '../../reading/format.ts';
import { range } from '../../reading/range.ts';
import { useFetch } from '../../reading/use-fetch.ts';
import { DialogForm } from '../dialog-form.tsx';
import { ConditionEditor } from './condition.tsx';
import { isComplete, presets } from './kinds.ts';

const typingMs = 400;

const filterOf = (list: readonly Condition[]): Condition | undefined => (list.length > 1 ? { and: list } : list[0]);

const conditionsOf = (filter: Condition): readonly Condition[] =>
  (filter.and as readonly Condition[] | undefined) ?? [filter];

/** The number of matching people, debounced. */
const Count = ({ list }: { readonly list: readonly Condition[] }) => {
  const [text, setText] = useState('');
  const isWhole = list.every(isComplete);
  const { from, to } = range.value;
  const request = JSON.stringify([from, to, list]);
  useEffect(() => {
    if (!isWhole) return setText('Fill in the empty fields to see the count.');
    // Clear the previous conditions' count.
    setText('');
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { total } = await api.reportTotals(
          { from, to, filter: filterOf(list), timezone: timezone.value },
          { signal: controller.signal },
        );
        setText(`${formatWhole(total.people)} ${total.people === 1 ? 'person' : 'people'} in this range`);
      } catch (error) {
        if (!controller.signal.aborted) setText(messageOf(error));
      }
    }, typingMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [request, isWhole]);
  return (
    <p class="filter-count" role="status">
      {text || 'Counting…'}
    </p>
  );
};

interface FilterDialogProps {
  /** The segment whose filter is edited. If absent, the page's filter is edited. */
  readonly segment?: EditedSegment | undefined;
  readonly close: () => void;
}

export const FilterDialog = ({ close, segment }: FilterDialogProps) => {
  const [list, setList] = useState<readonly Condition[]>(segment ? conditionsOf(segment.filter) : conditions.value);
  const [problem, setProblem] = useState('');
  const { value } = useFetch('segments', (signal) => api.listSegments({}, { signal }));
  // A segment's filter can't use another segment.
  const segments = (segment ? [] : (value?.segment ?? [])).map(({ segmentName }) => segmentName);
  const add = (title: string) => {
    const preset = presets.find((each) => each.title === title);
    if (preset) setList([...list, preset.condition()]);
  };
  const apply = async () => {
    const filter = filterOf(list);
    const rejection = segment && filter ? await segment.save(filter) : '';
    if (rejection) return setProblem(rejection);
    close();
    if (!segment) go(hrefWithFilter(list));
  };
  return (
    <DialogForm
      title={segment ? `Edit the segment “${segment.name}”` : 'Filter'}
      class="filter-dialog"
      close={close}
      action={segment ? 'Save' : 'Apply'}
      submit={apply}
      problem={problem}
      isDisabled={!list.every(isComplete) || (segment !== undefined && list.length === 0)}
    >
      {list.length === 0 && <p class="soft">No conditions: everyone is included.</p>}
      {list.map((condition, nth) => (
        <ConditionEditor
          key={nth}
          condition={condition}
          change={(next) => setList(list.with(nth, next))}
          remove={() => setList(list.toSpliced(nth, 1))}
          segments={segments}
        />
      ))}
      <select aria-label="Add a condition" value="" onChange={({ currentTarget }) => add(currentTarget.value)}>
        <option value="">Add a condition…</option>
        {presets.map(({ title }) => (
          <option key={title} value={title}>
            {title}
          </option>
        ))}
      </select>
      {list.length > 0 && <p class="soft">{list.map(describeCondition).join(' and ')}</p>}
      <Count list={list} />
    </DialogForm>
  );
};
