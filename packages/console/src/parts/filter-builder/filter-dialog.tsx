/** Builds the filter of the page: its conditions, in words, and how many people of the range meet them. */
import { useEffect, useState } from 'preact/hooks';
import { go } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { timezone } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { type Condition, conditions, type EditedSegment, hrefToHave, inWords } from '../../reading/filter.ts';
import { formatWhole } from '../../reading/format.ts';
import { range } from '../../reading/range.ts';
import { DialogForm } from '../dialog-form.tsx';
import { ConditionEditor } from './condition.tsx';
import { isComplete, presets } from './kinds.ts';

const typingMs = 400;

const filterOf = (list: readonly Condition[]): Condition | undefined => (list.length > 1 ? { and: list } : list[0]);

const conditionsOf = (filter: Condition): readonly Condition[] =>
  (filter.and as readonly Condition[] | undefined) ?? [filter];

/** The people whom the conditions leave, counted again a moment after each change. */
const Count = ({ list }: { readonly list: readonly Condition[] }) => {
  const [text, setText] = useState('');
  const isWhole = list.every(isComplete);
  const { from, to } = range.value;
  const request = JSON.stringify([from, to, list]);
  useEffect(() => {
    if (!isWhole) return setText('Fill in the empty fields to count the people.');
    // The count of earlier conditions would be taken for that of these.
    setText('');
    const asking = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { total } = await api.reportTotals(
          { from, to, filter: filterOf(list), timezone: timezone.value },
          { signal: asking.signal },
        );
        setText(`${formatWhole(total.people)} ${total.people === 1 ? 'person' : 'people'} in this range`);
      } catch (error) {
        if (!asking.signal.aborted) setText(messageOf(error));
      }
    }, typingMs);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [request, isWhole]);
  return (
    <p class="filter-count" role="status">
      {text || 'Counting …'}
    </p>
  );
};

interface FilterDialogProps {
  /** The segment whose filter is edited. Absent: the filter of the page. */
  readonly segment?: EditedSegment | undefined;
  readonly close: () => void;
}

export const FilterDialog = ({ close, segment }: FilterDialogProps) => {
  const [list, setList] = useState<readonly Condition[]>(segment ? conditionsOf(segment.filter) : conditions.value);
  const [problem, setProblem] = useState('');
  const { value } = useAnswer('segments', (signal) => api.listSegments({}, { signal }));
  // The filter of a segment names no other segment.
  const segments = (segment ? [] : (value?.segment ?? [])).map(({ segmentName }) => segmentName);
  const add = (title: string) => {
    const preset = presets.find((each) => each.title === title);
    if (preset) setList([...list, preset.condition()]);
  };
  const apply = async () => {
    const filter = filterOf(list);
    const refused = segment && filter ? await segment.save(filter) : '';
    if (refused) return setProblem(refused);
    close();
    if (!segment) go(hrefToHave(list));
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
      {list.length === 0 && <p class="soft">No conditions: all people count.</p>}
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
        <option value="">Add a condition …</option>
        {presets.map(({ title }) => (
          <option key={title} value={title}>
            {title}
          </option>
        ))}
      </select>
      {list.length > 0 && <p class="soft">{list.map(inWords).join(' and ')}</p>}
      <Count list={list} />
    </DialogForm>
  );
};
