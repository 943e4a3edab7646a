/** The editor for one condition and its nested ones. It edits the API's filter objects, so it can open every filter. */
import type { JSX } from 'preact';
import { account } from '../../reading/account.ts';
import { attributeName, type Condition } from '../../reading/filter.ts';
import { type Kind, kindOf, kindTitles, newCondition } from './kinds.ts';
import { DayInput, NumberInput, SelectInput, ValuesInput } from './values.tsx';

interface EditorProps {
  readonly condition: Condition;
  readonly change: (condition: Condition) => void;
  readonly segments: readonly string[];
  /** Whether the condition is inside a `did`, which can't contain another `did`. */
  readonly isWithinDid?: boolean;
}

type Did = NonNullable<Condition['did']>;
type ContactCondition = NonNullable<Condition['contact']>;

const unmerged = <Entry extends { readonly mergedInto?: unknown }>(entries: readonly Entry[] = []): readonly Entry[] =>
  entries.filter(({ mergedInto }) => mergedInto === undefined);

const eventOptions = () =>
  new Map(unmerged(account.value?.event).map(({ eventID, eventName }) => [String(eventID), eventName]));

/** Removes empty members, which the API would treat as conditions. */
const compact = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== '')) as Value;

const EventsInput = ({ value, change }: { readonly value: unknown; readonly change: (events: number[]) => void }) => (
  <ValuesInput
    label="Event"
    values={value}
    change={(events) => change(events as number[])}
    empty={account.value?.event[0]?.eventID ?? ''}
    input={(event, changeOne, label) => (
      <SelectInput
        label={label}
        value={String(event)}
        options={eventOptions()}
        change={(next) => changeOne(Number.isInteger(Number(next)) ? Number(next) : next)}
      />
    )}
  />
);

const suggestedAttributes = [
  'path',
  'referrer',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  '$browser',
  '$os',
  '$device',
  '$country',
];

const AttributeInput = ({ value, change }: { readonly value: string; readonly change: (attrID: string) => void }) => {
  const attributes = new Set([...suggestedAttributes, ...unmerged(account.value?.attr).map(({ attrID }) => attrID)]);
  return (
    <>
      <input
        aria-label="Attribute"
        list="filter-attributes"
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id="filter-attributes">
        {[...attributes].map((attrID) => (
          <option key={attrID} value={attrID}>
            {attributeName(attrID)}
          </option>
        ))}
      </datalist>
    </>
  );
};

const comparisons = {
  is: 'is',
  isNot: 'is not',
  contains: 'contains',
  matches: 'matches',
  exists: 'exists',
  absent: 'does not exist',
  lessThan: 'is below',
  greaterThan: 'is above',
} as const;
type Comparison = keyof typeof comparisons;

const comparisonOf = ({ exists, ...condition }: Condition): Comparison => {
  if (exists !== undefined) return exists ? 'exists' : 'absent';
  const names = ['is', 'isNot', 'contains', 'matches', 'lessThan', 'greaterThan'] as const;
  return names.find((name) => condition[name] !== undefined) ?? 'is';
};

const AttributeEditor = ({ condition, change }: EditorProps) => {
  const { attrID = '', personFirst, is, isNot, contains, matches } = condition;
  const subject = personFirst === undefined ? { attrID } : { personFirst };
  const comparison = comparisonOf(condition);
  const compare = (chosen: Comparison) => {
    const text = String([is ?? isNot ?? contains ?? matches ?? ''].flat()[0] ?? '');
    const number = Number(text) || 0;
    const values = { is: [text], isNot: [text], contains: text, matches: text, lessThan: number, greaterThan: number };
    const exists = chosen === 'exists';
    change({ ...subject, ...(exists || chosen === 'absent' ? { exists } : { [chosen]: values[chosen] }) });
  };
  const text = (value: string | number, set: (value: string) => void, label: string) => (
    <input aria-label={label} value={value} onInput={({ currentTarget }) => set(currentTarget.value)} />
  );
  return (
    <>
      <AttributeInput
        value={personFirst ?? attrID}
        change={(next) =>
          change({ ...condition, ...(personFirst === undefined ? { attrID: next } : { personFirst: next }) })
        }
      />
      <SelectInput
        label="Comparison"
        value={comparison}
        options={new Map(Object.entries(comparisons))}
        change={(next) => compare(next as Comparison)}
      />
      {(comparison === 'is' || comparison === 'isNot') && (
        <ValuesInput
          label="Value"
          values={is ?? isNot}
          change={(values) => change({ ...subject, [comparison]: values })}
          empty=""
          input={text}
        />
      )}
      {(comparison === 'contains' || comparison === 'matches') &&
        text(condition[comparison] ?? '', (next) => change({ ...subject, [comparison]: next }), 'Text')}
      {(comparison === 'lessThan' || comparison === 'greaterThan') && (
        <NumberInput
          label="Number"
          value={condition[comparison]}
          change={(next = 0) => change({ ...subject, [comparison]: next })}
        />
      )}
    </>
  );
};

const DidEditor = ({
  did,
  change,
  segments,
}: {
  did: Did;
  change: (did: Did) => void;
  segments: readonly string[];
}) => {
  const { event, filter, atLeast, atMost, withinDays, from, to } = did;
  const set = (members: Partial<Record<keyof Did, unknown>>) => change(compact({ ...did, ...members }) as Did);
  const range = withinDays === undefined ? ((from ?? to) === undefined ? 'ever' : 'days') : 'within';
  const setRange = (chosen: string) =>
    set({
      withinDays: chosen === 'within' ? 30 : undefined,
      from: chosen === 'days' ? new Date(Date.now() - 30 * 86_400_000).toISOString() : undefined,
      to: undefined,
    });
  return (
    <>
      {event === undefined ? (
        <button type="button" onClick={() => set({ event: [account.value?.event[0]?.eventID ?? ''] })}>
          anything…
        </button>
      ) : (
        <>
          <EventsInput value={event} change={(events) => set({ event: events })} />
          <button type="button" onClick={() => set({ event: undefined })}>
            anything
          </button>
        </>
      )}
      <span class="labeled">
        at least <NumberInput label="At least" min={1} value={atLeast} change={(next) => set({ atLeast: next })} />
      </span>
      <span class="labeled">
        at most <NumberInput label="At most" min={1} value={atMost} change={(next) => set({ atMost: next })} /> times
      </span>
      <SelectInput
        label="When"
        value={range}
        options={
          new Map([
            ['ever', 'at any time'],
            ['within', 'in the last … days'],
            ['days', 'between dates'],
          ])
        }
        change={setRange}
      />
      {range === 'within' && (
        <NumberInput label="Days" min={1} value={withinDays} change={(next = 1) => set({ withinDays: next })} />
      )}
      {range === 'days' && (
        <>
          <DayInput label="From" value={from} change={(next) => set({ from: next })} />
          <DayInput label="Before" value={to} change={(next) => set({ to: next })} />
        </>
      )}
      {filter === undefined ? (
        <button type="button" onClick={() => set({ filter: newCondition('attribute', segments) })}>
          where…
        </button>
      ) : (
        <div class="conditions">
          <ConditionEditor
            condition={filter}
            change={(next) => set({ filter: next })}
            remove={() => set({ filter: undefined })}
            segments={segments}
            isWithinDid
          />
        </div>
      )}
    </>
  );
};

const ContactEditor = ({ condition, change }: EditorProps) => {
  const contact = (condition.contact ?? {}) as ContactCondition;
  const set = (members: Partial<Record<keyof ContactCondition, unknown>>) =>
    change({ contact: compact({ ...contact, ...members }) as ContactCondition });
  const choice = (
    key: 'contactTagID' | 'contactProfileID' | 'contactStatus',
    label: string,
    entries: [string, string][],
  ) => (
    <SelectInput
      label={label}
      value={String(contact[key] ?? '')}
      options={new Map([['', label], ...entries])}
      change={(next) => set({ [key]: next })}
    />
  );
  const { attrID, attrValue } = contact;
  return (
    <>
      {choice(
        'contactTagID',
        'Any tag',
        unmerged(account.value?.tag).map(({ tagID, tagName }) => [tagID, tagName]),
      )}
      {choice(
        'contactProfileID',
        'Any profile',
        unmerged(account.value?.profile).map(({ profileID, profileName }) => [profileID, profileName]),
      )}
      {choice('contactStatus', 'Any status', [
        ['active', 'active'],
        ['unsubscribed', 'unsubscribed'],
        ['archived', 'archived'],
      ])}
      <span class="labeled">
        attribute{' '}
        <AttributeInput
          value={String(attrID ?? '')}
          change={(next) => set({ attrID: next, ...(next === '' && { attrValue: undefined }) })}
        />
      </span>
      {attrID != null && (
        <span class="labeled">
          is{' '}
          <input
            aria-label="Attribute value"
            placeholder="any value"
            value={String(attrValue ?? '')}
            onInput={({ currentTarget }) => set({ attrValue: currentTarget.value })}
          />
        </span>
      )}
      <span class="labeled">
        created from{' '}
        <DayInput label="Created from" value={contact.createdFrom} change={(next) => set({ createdFrom: next })} />
      </span>
      <span class="labeled">
        before <DayInput label="Created before" value={contact.createdTo} change={(next) => set({ createdTo: next })} />
      </span>
      <span class="labeled">
        seen from <DayInput label="Seen from" value={contact.seenFrom} change={(next) => set({ seenFrom: next })} />
      </span>
      <span class="labeled">
        before <DayInput label="Seen before" value={contact.seenTo} change={(next) => set({ seenTo: next })} />
      </span>
    </>
  );
};

const GroupEditor = ({
  parts,
  change,
  ...props
}: Omit<EditorProps, 'condition' | 'change'> & {
  readonly parts: readonly Condition[];
  readonly change: (parts: Condition[]) => void;
}) => (
  <div class="conditions">
    {parts.map((part, nth) => (
      <ConditionEditor
        key={nth}
        {...props}
        condition={part}
        change={(next) => change([...parts].with(nth, next))}
        remove={parts.length > 1 ? () => change(parts.toSpliced(nth, 1)) : undefined}
      />
    ))}
    <button
      type="button"
      class="quiet"
      onClick={() => change([...parts, newCondition(props.isWithinDid ? 'attribute' : 'did', props.segments)])}
    >
      Add a condition
    </button>
  </div>
);

const bodies: Readonly<Record<Kind, (props: EditorProps) => JSX.Element>> = {
  did: ({ condition, change, segments }) => (
    <DidEditor did={condition.did as Did} change={(did) => change({ did })} segments={segments} />
  ),
  didNot: ({ condition, change, segments }) => (
    <DidEditor did={condition.not?.did as Did} change={(did) => change({ not: { did } })} segments={segments} />
  ),
  event: ({ condition, change }) => <EventsInput value={condition.event} change={(event) => change({ event })} />,
  attribute: AttributeEditor,
  personFirst: AttributeEditor,
  contact: ContactEditor,
  segment: ({ condition, change, segments }) => (
    <SelectInput
      label="Segment"
      value={String(condition.segment ?? '')}
      options={new Map(segments.map((name) => [name, name]))}
      change={(segment) => change({ segment })}
    />
  ),
  and: ({ condition, change, ...props }) => (
    <GroupEditor {...props} parts={condition.and ?? []} change={(and) => change({ and })} />
  ),
  or: ({ condition, change, ...props }) => (
    <GroupEditor {...props} parts={condition.or ?? []} change={(or) => change({ or })} />
  ),
  not: ({ condition, change, ...props }) => (
    <div class="conditions">
      <ConditionEditor {...props} condition={condition.not as Condition} change={(not) => change({ not })} />
    </div>
  ),
};

export const ConditionEditor = ({
  remove,
  ...props
}: EditorProps & { readonly remove?: (() => void) | undefined }): JSX.Element => {
  const { condition, change, segments, isWithinDid = false } = props;
  const kind = kindOf(condition);
  const kinds = Object.entries(kindTitles).filter(
    ([name]) =>
      !(isWithinDid && (name === 'did' || name === 'didNot' || name === 'personFirst')) &&
      (name !== 'segment' || segments.length > 0),
  );
  const Body = bodies[kind];
  return (
    <fieldset class="condition">
      <legend class="unseen">Condition</legend>
      <SelectInput
        label="Type of condition"
        value={kind}
        options={new Map(kinds)}
        change={(next) => change(newCondition(next as Kind, segments))}
      />
      <Body {...props} />
      {remove && (
        <button type="button" class="quiet" aria-label="Remove the condition" onClick={remove}>
          ×
        </button>
      )}
    </fieldset>
  );
};
