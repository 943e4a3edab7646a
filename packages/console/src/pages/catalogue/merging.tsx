/** Merging an entry with another one of its catalogue, and separating them again. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act } from '../../parts/notices.tsx';
import { mayChange, readAccount } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { type Entry, type Kind, kinds } from './entries.ts';

interface MergeProps {
  readonly kind: Kind;
  readonly entry: Entry;
  readonly entries: readonly Entry[];
  /** The other one that is chosen at first. */
  readonly partnerID?: string;
}

/** Two spellings often have one name. */
const labelOf = ({ id, name }: Pick<Entry, 'id' | 'name'>): string => (name === id ? name : `${name} (${id})`);

const mergeOf = (kind: Kind, kept: Pick<Entry, 'id'>, other: Pick<Entry, 'id'>) =>
  api.mergeEntry({ catalogue: kind, entryID: kept.id, otherEntryID: other.id });
const unmergeOf = (kind: Kind, other: Pick<Entry, 'id'>) =>
  api.unmergeEntry({ catalogue: kind, otherEntryID: other.id });

const consequence = (kind: Kind, kept: string, other: string): string => {
  switch (kind) {
    case 'event':
      return `All events “${other}” count as “${kept}”, those that are still sent under its ID too.`;
    case 'attr':
      return `Every value of “${other}” is read as one of “${kept}”. Where an event or a contact has both, the value of “${kept}” counts.`;
    case 'tag':
      return `Every contact with the tag “${other}” has the tag “${kept}”.`;
    case 'profile':
      return `Every contact with the profile “${other}” has the profile “${kept}”.`;
  }
};

/** Whether pages may use an ID is said by the entry that it counts as. */
const forPages = (kept: Entry, other: string): string =>
  kept.browser
    ? `Pages may use “${labelOf(kept)}”, so they may use “${other}” then, too.`
    : `Pages may not use “${labelOf(kept)}”: what they send with “${other}” is refused from then on.`;

export const MergeDialog = ({
  kind,
  entry,
  entries,
  partnerID,
  close,
}: MergeProps & { readonly close: () => void }) => {
  const { one, title } = kinds[kind];
  const others = entries.filter((each) => each.isListed && each.id !== entry.id);
  const [chosen, choose] = useState(partnerID ?? others[0]?.id ?? '');
  const [stays, setStays] = useState<'entry' | 'chosen'>('chosen');
  const [problem, setProblem] = useState('');
  const partner = others.find(({ id }) => id === chosen);
  const [kept, other] = stays === 'entry' ? [entry, partner] : [partner, entry];
  const submit = async () => {
    if (!kept || !other) return;
    const attempt = mergeOf(kind, kept, other);
    const refused = await problemOf(attempt);
    if (refused) return setProblem(refused);
    close();
    await act(() => attempt, {
      done: `“${labelOf(other)}” counts as “${labelOf(kept)}” now.`,
      undo: () => unmergeOf(kind, other),
      after: readAccount,
    });
  };
  return (
    <DialogForm
      title={`Merge “${labelOf(entry)}”`}
      close={close}
      action="Merge"
      submit={submit}
      problem={problem}
      isDisabled={!partner}
    >
      {partner ? (
        <>
          <Field label={`With the ${one}`}>
            {(attributes) => (
              <select {...attributes} value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
                {others.map((each) => (
                  <option key={each.id} value={each.id}>
                    {labelOf(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="The one that stays">
            {(attributes) => (
              <select
                {...attributes}
                value={stays}
                onChange={(event) => setStays(event.currentTarget.value as typeof stays)}
              >
                <option value="chosen">{labelOf(partner)}</option>
                <option value="entry">{labelOf(entry)}</option>
              </select>
            )}
          </Field>
          <p>
            {kept && other && consequence(kind, labelOf(kept), labelOf(other))}
            {kind === 'event' && other && ` Events until now: ${formatWhole(other.uses?.count ?? 0)}.`}
            {kept && other && kept.browser !== other.browser && ` ${forPages(kept, labelOf(other))}`}
          </p>
          <p class="soft">Nothing that is stored changes: you can separate them at any time.</p>
        </>
      ) : (
        <p>There are no other {title.toLowerCase()} to merge it with.</p>
      )}
    </DialogForm>
  );
};

export const Merge = (props: MergeProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" aria-label={`Merge ${props.entry.name}`} onClick={() => setOpen(true)}>
        Merge
      </button>
      {isOpen && <MergeDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};

/** The entries that are merged into one, each with a way to separate it. */
export const MergedEntries = ({ kind, entry }: Omit<MergeProps, 'entries'>) => {
  const { merged } = entry;
  if (merged.length === 0) return null;
  const separate = (other: Entry['merged'][number]) =>
    act(() => unmergeOf(kind, other), {
      done: `“${labelOf(other)}” stands for itself again.`,
      undo: () => mergeOf(kind, entry, other),
      after: readAccount,
    });
  return (
    <ul class="merged" aria-label={`Merged into ${entry.name}`}>
      {merged.map((other) => (
        <li key={other.id}>
          <span class="soft">also {labelOf(other)}</span>
          {mayChange.value && (
            <button
              type="button"
              class="quiet"
              aria-label={`Separate ${labelOf(other)}`}
              onClick={() => separate(other)}
            >
              Separate
            </button>
          )}
        </li>
      ))}
    </ul>
  );
};
